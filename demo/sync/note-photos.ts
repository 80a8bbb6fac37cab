/** Photos of notes. Each is fetched once, as soon as the hub has it, and kept while this window is open. */
import type { FileRef, Ref } from '../../src/index.ts';
import { h } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import type { NoteCopy } from './note-copy.ts';

interface PhotoOf {
  readonly ref: Ref;
  readonly title: string;
  readonly photo: FileRef;
}

export class NotePhotos {
  private readonly copy: NoteCopy;
  private readonly signal: AbortSignal;
  private readonly onChange: () => void;
  private readonly urls = new Map<string, string>();
  private readonly fetching = new Set<string>();
  /** Why a photo could not be fetched, by file. */
  private readonly reasons = new Map<string, string>();

  /** @param onChange called when a photo can be shown, or when its fetch has failed */
  constructor(copy: NoteCopy, signal: AbortSignal, onChange: () => void) {
    this.copy = copy;
    this.signal = signal;
    this.onChange = onChange;
    const tryAgain = (): void => {
      if (this.reasons.size === 0) return;
      this.reasons.clear();
      onChange();
    };
    copy.sync.addEventListener('state', tryAgain, { signal });
    signal.addEventListener('abort', () => {
      for (const url of this.urls.values()) URL.revokeObjectURL(url);
    });
  }

  show(of: PhotoOf): HTMLElement {
    const { file, name } = of.photo;
    const url = this.urls.get(file);
    const alt = `Photo of “${of.title}”`;
    if (url !== undefined) return h('img', { class: 'note-photo', src: url, alt, title: name });
    const reason = this.reasons.get(file);
    if (reason === undefined) void this.fetch(of);
    return h(
      'small',
      { class: 'hint', 'data-testid': 'photo-state' },
      reason ?? 'Waiting for the photo…',
    );
  }

  private async fetch({ ref, photo }: PhotoOf): Promise<void> {
    if (this.fetching.has(photo.file)) return;
    this.fetching.add(photo.file);
    const { signal } = this;
    try {
      const blob = await this.copy.db.files.get(photo, { of: ref, wait: true, signal });
      if (signal.aborted) return;
      this.urls.set(photo.file, URL.createObjectURL(blob));
    } catch (error) {
      this.reasons.set(photo.file, explain(error));
    } finally {
      this.fetching.delete(photo.file);
      if (!signal.aborted) this.onChange();
    }
  }
}

/** A hidden file input. The buttons of notes open it. */
export function photoPicker(onPicked: (noteId: string, photo: File) => void) {
  let noteId: string | undefined;
  const input = h('input', {
    type: 'file',
    accept: 'image/*',
    hidden: true,
    'aria-label': 'Photo of a note',
    on: {
      change: () => {
        const [photo] = input.files ?? [];
        if (photo && noteId !== undefined) onPicked(noteId, photo);
        input.value = '';
      },
    },
  });
  return {
    node: input,
    open(id: string): void {
      noteId = id;
      input.click();
    },
  };
}
