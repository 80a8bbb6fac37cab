/** What the page of the bench of sync asks of whoever keeps two browsers in step. */

export interface Note {
  readonly room: string;
  readonly text: string;
}

export interface SyncOptions {
  /** Of the server. */
  readonly url: string;
  readonly name: string;
  /** What the server knows the caller by, where it does. */
  readonly secret: string;
}

export interface SyncContender {
  /** Resolves when what the server has is here, and changes flow both ways. */
  open(options: SyncOptions): Promise<void>;
  /** Resolves when it is stored here. */
  write(note: Note): Promise<void>;
  /** Calls back with the texts of a room, now and after each change. */
  watch(room: string, onChange: (texts: readonly string[]) => void): Promise<void>;
}

export interface SyncContenderModule {
  readonly title: string;
  readonly create: () => SyncContender;
}
