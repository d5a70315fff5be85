/**
 * Collects the events of one test process into results: for each file the counts, the failures and the
 * skipped tests.
 */
import type { TestEvent } from './test-event.ts';

export interface TestFailure {
  /** The names of the surrounding suites and of the test: `a door › stays shut`. */
  readonly name: string;
  /** The text of the error, with its stack. */
  readonly error: string;
  /** The test did not fail by itself: a surrounding test failed or ended. */
  readonly isCancelled: boolean;
}

/** The results of one file so far. */
export class TestFileLog {
  readonly file: string;
  tests = 0;
  readonly testFailures: TestFailure[] = [];
  /** Texts of errors that no test has caught. */
  readonly strays: string[] = [];
  /** Names, with reasons. */
  readonly skipped: string[] = [];
  /** Seconds of CPU of the test process itself while the file ran; undefined unless it shared the process. */
  cpuSeconds: number | undefined;
  /** Undefined while the file runs, and always for a file with a process of its own. */
  endedAfterMs: number | undefined;
  readonly #startedMs = performance.now();

  constructor(file: string) {
    this.file = file;
  }

  /** An error that no test has caught is a failure of its own, unless node:test has found the test that it belongs to. */
  get failures(): readonly TestFailure[] {
    const isOfTest = (stray: string): boolean => this.testFailures.some(({ error }) => error.includes(stray));
    const strays = this.strays.filter((stray) => !isOfTest(stray));
    return [
      ...this.testFailures,
      ...strays.map((error) => ({ name: 'outside of every test', error, isCancelled: false })),
    ];
  }

  get durationMs(): number {
    return this.endedAfterMs ?? performance.now() - this.#startedMs;
  }
}

interface OpenTest {
  readonly name: string;
  readonly parentId: number | undefined;
}

export class TestEventLog {
  /** Results in the order in which the files began. */
  readonly files: TestFileLog[] = [];
  readonly #first: string;
  readonly #isShared: boolean;
  readonly #open = new Map<number, OpenTest>();

  /** `isShared`: the tests at the top are files (`test-group-suite.ts`); otherwise all belong to the only file. */
  constructor(files: readonly string[], isShared: boolean) {
    this.#first = files[0] ?? '';
    this.#isShared = isShared;
    if (!isShared) this.beginFirst();
  }

  /** The result for a process that ended before its first event. */
  beginFirst(): void {
    if (this.files.length === 0) this.#fileOf(this.#first);
  }

  /** The file that runs, or ran last. */
  get current(): TestFileLog | undefined {
    return this.files.at(-1);
  }

  /** Names of the tests that have begun and not ended, innermost last. */
  get running(): string[] {
    return [...this.#open.entries()]
      .filter(([, { parentId }]) => !this.#isShared || parentId !== undefined)
      .map(([id]) => this.#pathOf(id));
  }

  add(event: TestEvent): void {
    switch (event.type) {
      case 'begin':
        this.#open.set(event.id, { name: event.name, parentId: event.parentId });
        if (this.#isShared && event.parentId === undefined) this.#fileOf(event.name);
        break;
      case 'end':
        this.#end(event);
        break;
      case 'stray':
        this.#fileOf(event.file ?? this.#first).strays.push(event.error);
        break;
      case 'usage': {
        const file = this.#fileOf(event.file);
        file.cpuSeconds = event.cpuSeconds;
        file.endedAfterMs = event.durationMs;
      }
    }
  }

  #end(event: Extract<TestEvent, { type: 'end' }>): void {
    // A test that is skipped, or cancelled before it began, was never open.
    this.#open.set(event.id, { name: event.name, parentId: event.parentId });
    const [top, ...inner] = this.#namesOf(event.id);
    const file = this.#fileOf(this.#isShared ? top! : this.#first);
    const isFile = this.#isShared && inner.length === 0;
    const name = isFile ? 'the file' : this.#pathOf(event.id);
    this.#open.delete(event.id);
    if (!isFile && !event.isSuite) file.tests += 1;
    if (event.outcome === 'skipped') {
      file.skipped.push(event.reason === undefined ? name : `${name}: ${event.reason}`);
    } else if (event.outcome === 'failed' || event.outcome === 'cancelled') {
      const isCancelled = event.outcome === 'cancelled';
      file.testFailures.push({ name, error: event.error ?? '', isCancelled });
    }
  }

  /** Returns the record of a file; its first event creates it. */
  #fileOf(name: string): TestFileLog {
    const known = this.files.find(({ file }) => file === name);
    if (known !== undefined) return known;
    const file = new TestFileLog(name);
    this.files.push(file);
    return file;
  }

  #pathOf(id: number): string {
    return this.#namesOf(id)
      .slice(this.#isShared ? 1 : 0)
      .join(' › ');
  }

  /** The names from the outermost suite to the test itself. */
  #namesOf(id: number): string[] {
    const names: string[] = [];
    for (let open = this.#open.get(id); open !== undefined; open = this.#open.get(open.parentId ?? -1)) {
      names.unshift(open.name);
    }
    return names;
  }
}
