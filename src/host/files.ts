/** Files beside documents, as page and worker speak of them. */

/** A document: the name of its collection, and its id. */
export interface FileHomeData {
  readonly collection: string;
  readonly id: string;
}

export interface FileCall {
  /** By which the page may abort it. */
  readonly number?: number | undefined;
  /** `file:` and 64 digits. */
  readonly file: string;
  /** A document that refers to it. */
  readonly of: FileHomeData | undefined;
  /** Until the hub has it and can be reached. */
  readonly wait?: boolean | undefined;
}

/**
 * - `here`: stored on this device alone. No write that the hub confirmed refers to it.
 * - `unsent`: on its way to the hub.
 * - `sent`: the hub has it too.
 * - `partial`: a part has come from the hub.
 * - `refused`: the hub does not take it.
 */
export type FileState = 'here' | 'unsent' | 'sent' | 'partial' | 'refused';

export interface FileData {
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  readonly state: FileState;
  /** Why the hub does not take it. */
  readonly error: string | undefined;
}

/** A part of a file was sent to the hub, or came from it. */
export interface FileProgress {
  readonly file: string;
  readonly way: 'sending' | 'fetching';
  /** Bytes. */
  readonly done: number;
  readonly size: number;
  /** Set when the hub does not take it, or what it sends is damaged. */
  readonly error: string | undefined;
}
