/** A reporter for `node --test-reporter`, which sends the events of tests to the runner as they happen. */
import process from 'node:process';
import { currentFile } from './test-current-file.ts';
import { errorText, sendTestEvent, type TestOutcome } from './test-event.ts';

/** The part of node's events that is used here. `node:test` declares no type for the identifiers. */
interface NodeTestEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly nesting: number;
    readonly testId: number;
    readonly parentId?: number;
    readonly skip?: string | boolean;
    readonly todo?: string | boolean;
    readonly details?: {
      readonly type?: string;
      readonly passed: boolean;
      readonly error?: { readonly failureType?: string; readonly cause?: unknown };
    };
  };
}

const CANCELLED: readonly unknown[] = ['cancelledByParent', 'testAborted'];

// node:test has listeners of its own, and loads its reporters after it has registered them: it fails the test that the
// error belongs to, or, where it finds none, mentions the error at the end of the process.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    process.exitCode = 1;
    sendTestEvent({ type: 'stray', file: currentFile.name, error: errorText(error) });
  });
}

// oxlint-disable-next-line require-yield -- node would print what it yields
async function* reportTestEvents(source: AsyncIterable<NodeTestEvent>): AsyncGenerator<never> {
  for await (const { type, data } of source) {
    if (type !== 'test:dequeue' && type !== 'test:complete') continue;
    const { name, testId: id, details } = data;
    const parentId = data.nesting === 0 ? undefined : data.parentId;
    if (type === 'test:dequeue') {
      sendTestEvent({ type: 'begin', id, parentId, name });
      continue;
    }
    const { error } = details ?? {};
    sendTestEvent({
      type: 'end',
      id,
      parentId,
      name,
      isSuite: details?.type === 'suite',
      outcome: outcomeOf(data),
      reason: typeof data.skip === 'string' ? data.skip : undefined,
      error: error === undefined ? undefined : errorText(error.cause ?? error),
    });
  }
}

function outcomeOf({ skip, todo, details }: NodeTestEvent['data']): TestOutcome {
  if (skip !== undefined) return 'skipped';
  if (details?.passed !== false || todo !== undefined) return 'passed';
  const why = details.error?.failureType;
  if (why === 'subtestsFailed') return 'derived';
  return CANCELLED.includes(why) ? 'cancelled' : 'failed';
}

// oxlint-disable-next-line import/no-default-export -- node takes a reporter from there
export { reportTestEvents as default };
