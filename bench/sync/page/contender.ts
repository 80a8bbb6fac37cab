/** The interface of contenders that sync two browsers. */

export interface Note {
  readonly room: string;
  readonly text: string;
}

export interface SyncOptions {
  /** URL of the server. */
  readonly url: string;
  readonly name: string;
  /** Credential for the server, for contenders that need one. */
  readonly secret: string;
}

export interface SyncContender {
  /** Resolves when the server's data has arrived and changes are synced in both directions. */
  open(options: SyncOptions): Promise<void>;
  /** Resolves when the note is stored in this browser. */
  write(note: Note): Promise<void>;
  /** Calls back with the texts of a room, now and after each change. */
  watch(room: string, onChange: (texts: readonly string[]) => void): Promise<void>;
}

export interface SyncContenderModule {
  readonly title: string;
  readonly create: () => SyncContender;
}
