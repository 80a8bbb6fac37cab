import { DATA_LIMITS } from '../limits.ts';
import { DataError } from './data-error.ts';

/** What a source has and the database has already, with other contents. */
export class Clashes {
  private readonly told: string[] = [];
  private count = 0;

  add(sentence: string): void {
    this.count += 1;
    if (this.told.length < DATA_LIMITS.clashesTold) this.told.push(sentence);
  }

  /** @throws DataError `clash` */
  requireNone(): void {
    if (this.count === 0) return;
    const more = this.count - this.told.length;
    const shown = [...this.told, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
    const sentence = `Nothing was imported. ${shown} Choose \`onClash: 'skip'\` or \`'replace'\`, or import into an empty database.`;
    throw new DataError('clash', sentence);
  }
}
