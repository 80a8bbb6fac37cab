/** Parses comma-separated values by RFC 4180, with LF or CRLF, in one pass over pieces of text. */
import { DATA_LIMITS } from '../limits.ts';
import { DataError } from './data-error.ts';

export interface Cell {
  readonly text: string;
  /** Distinguishes `""`, an empty string, from nothing between commas, no value. */
  readonly isQuoted: boolean;
}

export interface CsvRow {
  /** Line on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly Cell[];
}

type State = 'start' | 'plain' | 'quoted' | 'quote';

/** Parses the rows of a text that arrives in pieces. @throws DataError `invalid_line`, `line_too_long` */
export async function* csvRows(
  pieces: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRow> {
  const scan = new CsvScan(delimiter);
  for await (const piece of pieces) {
    scan.read(piece);
    yield* scan.take();
  }
  scan.end();
  yield* scan.take();
}

class CsvScan {
  private readonly delimiter: string;
  private rows: CsvRow[] = [];
  private cells: Cell[] = [];
  private text = '';
  private state: State = 'start';
  /** A carriage return was read, which belongs to the end of the line if a line feed follows. */
  private hasReturn = false;
  private line = 1;
  /** Line on which the current row began. */
  private rowLine = 1;
  private chars = 0;

  constructor(delimiter: string) {
    this.delimiter = delimiter;
  }

  take(): readonly CsvRow[] {
    const { rows } = this;
    this.rows = [];
    return rows;
  }

  read(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      // A run of characters without a special meaning is added at once.
      const end = this.hasReturn ? at : this.endOfRun(piece, at);
      if (end > at) {
        this.add(piece.slice(at, end));
        at = end;
        if (at === piece.length) return;
      }
      const char = piece.charAt(at);
      if (this.state === 'quoted') this.readQuoted(char);
      else this.readPlain(char);
      if (char === '\n') this.line += 1;
    }
  }

  end(): void {
    if (this.state === 'quoted') this.fail('This cell has no closing quote.', this.rowLine);
    const isRow = this.state !== 'start' || this.cells.length > 0 || this.hasReturn;
    if (isRow) this.endRow();
  }

  private endOfRun(piece: string, from: number): number {
    if (this.state === 'start' || this.state === 'quote') return from;
    let at = from;
    if (this.state === 'quoted')
      while (at < piece.length && piece[at] !== '"' && piece[at] !== '\n') at += 1;
    else while (at < piece.length && !this.isSpecial(piece[at] ?? '')) at += 1;
    return at;
  }

  private isSpecial(char: string): boolean {
    return char === this.delimiter || char === '"' || char === '\n' || char === '\r';
  }

  private readQuoted(char: string): void {
    if (char === '"') this.state = 'quote';
    else this.add(char);
  }

  private readPlain(char: string): void {
    if (char === '\n') return this.endRow();
    if (this.hasReturn) {
      this.hasReturn = false;
      this.addPlain('\r');
    }
    if (char === '\r') this.hasReturn = true;
    else if (char === this.delimiter) this.endCell();
    else if (char !== '"') this.addPlain(char);
    else if (this.state === 'start') this.state = 'quoted';
    else if (this.state === 'quote') {
      this.add('"');
      this.state = 'quoted';
    } else this.fail('A cell with quotes must be quoted, and its quotes doubled.');
  }

  private addPlain(text: string): void {
    if (this.state === 'quote') this.fail('Text follows the closing quote of this cell.');
    this.state = 'plain';
    this.add(text);
  }

  private add(text: string): void {
    this.text += text;
    this.chars += text.length;
    if (this.chars <= DATA_LIMITS.lineChars) return;
    const sentence = `The row is longer than ${DATA_LIMITS.lineChars} characters. Is a quote missing?`;
    throw new DataError('line_too_long', sentence, { line: this.rowLine });
  }

  private endCell(): void {
    this.cells.push({ text: this.text, isQuoted: this.state === 'quote' });
    this.text = '';
    this.state = 'start';
    // Empty cells count as well, because they take memory too.
    this.chars += 1;
  }

  private endRow(): void {
    const isEmpty = this.cells.length === 0 && this.state === 'start';
    this.endCell();
    if (!isEmpty) this.rows.push({ line: this.rowLine, cells: this.cells });
    this.cells = [];
    this.chars = 0;
    this.hasReturn = false;
    this.rowLine = this.line + 1;
  }

  private fail(sentence: string, line = this.line): never {
    throw new DataError('invalid_line', sentence, { line, column: this.cells.length + 1 });
  }
}
