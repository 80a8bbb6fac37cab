/** Files of documents, in the form in which page and worker exchange them. */

/** A document: the name of its collection, and its id. */
export interface FileHomeData {
  readonly collection: string;
  readonly id: string;
}

export interface FileCall {
  /** Number by which the page can abort the call. */
  readonly number?: number | undefined;
  /** `file:` and 64 hexadecimal digits. */
  readonly file: string;
  /** A document that refers to the file. */
  readonly of: FileHomeData | undefined;
  /** Whether to wait until the hub has the file and can be reached. */
  readonly wait?: boolean | undefined;
}

/**
 * - `here`: the file is stored only on this device. No write that the hub confirmed refers to it.
 * - `unsent`: the file is waiting to be sent to the hub.
 * - `sent`: the hub has the file too.
 * - `partial`: a part of the file was received from the hub.
 * - `refused`: the hub does not accept the file.
 */
export type FileState = 'here' | 'unsent' | 'sent' | 'partial' | 'refused';

export interface FileData {
  readonly file: string;
  /** Size in bytes. */
  readonly size: number;
  readonly state: FileState;
  /** Why the hub does not accept the file. */
  readonly error: string | undefined;
}

/** A part of a file was sent to the hub, or received from it. */
export interface FileProgress {
  readonly file: string;
  readonly way: 'sending' | 'fetching';
  /** Bytes sent or received so far. */
  readonly done: number;
  readonly size: number;
  /** Set when the hub does not accept the file, or the data that it sends is damaged. */
  readonly error: string | undefined;
}
