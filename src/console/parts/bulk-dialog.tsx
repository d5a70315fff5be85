/**
 * Changes many resources after a question. Each is read first, and its change carries the tag that was read, as a single edit does:
 * a change that someone else makes in the meantime is not overwritten. A change that fails does not stop the others, and can be tried again.
 */
import { Button, Group, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useFormat, useText } from '../text/language.tsx';
import { runEach, type TaskOutcome } from './bulk-run.ts';
import { Dialog } from './dialog.tsx';
import { partsText } from './parts-text.ts';
import { sentenceOf } from './problem.tsx';
import { StateBadge } from './state-badge.tsx';
import { tablesText } from './tables-text.ts';

type Step<Read> =
  | { readonly state: 'reading' | 'running' | 'done' }
  | { readonly state: 'ready'; readonly read: Read }
  | { readonly state: 'failed'; readonly error: Error };

export interface BulkChange<Row, Read> {
  /** The state that the change is about, with its tag. An error says why this row cannot be changed. */
  readonly read: (row: Row) => Promise<Read>;
  readonly change: (row: Row, read: Read) => Promise<unknown>;
}

export interface BulkDialogProps<Row, Read> extends BulkChange<Row, Read> {
  readonly title: string;
  readonly action: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  /** A text that has to be typed, for what cannot be undone. */
  readonly typed?: string | undefined;
  /** False while something has to be chosen first. */
  readonly isReady?: boolean;
  /** Called when changes were carried out, with the rows for which they were. */
  readonly onChanged: (rows: readonly Row[]) => void;
  readonly onClose: () => void;
  /** Explains the effects, and has what is to be chosen. */
  readonly children: ReactNode;
}

export function BulkDialog<Row, Read>(props: BulkDialogProps<Row, Read>): ReactNode {
  const [text, common] = [useText(tablesText), useText(partsText)];
  const { rows, keyOf, nameOf, typed, isReady = true, onClose } = props;
  const { steps, readyRows, isBusy, run, readAgain } = useSteps(props);
  const [confirmed, setConfirmed] = useState('');
  const failed = rows.filter((row) => steps.get(keyOf(row))?.state === 'failed');
  const isAllowed =
    isReady && !isBusy && readyRows.length > 0 && (typed === undefined || confirmed === typed);
  return (
    <Dialog title={props.title} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isAllowed) run();
        }}
      >
        {props.children}
        <ul className="fd-results-of" aria-label={text.changesOf}>
          {rows.map((row) => (
            <li key={keyOf(row)}>
              <span>{nameOf(row)}</span>
              <StepState step={steps.get(keyOf(row))} />
            </li>
          ))}
        </ul>
        <Summary steps={[...steps.values()]} />
        {typed === undefined || readyRows.length === 0 ? null : (
          <TextInput
            mt="md"
            label={common.typeToConfirm(typed)}
            value={confirmed}
            onChange={({ currentTarget }) => setConfirmed(currentTarget.value)}
            autoComplete="off"
          />
        )}
        <Group justify="flex-end" mt="lg">
          {failed.length === 0 || isBusy ? null : (
            <Button variant="default" onClick={() => readAgain(failed)}>
              {common.tryAgain}
            </Button>
          )}
          <Button variant="default" onClick={onClose} data-autofocus>
            {readyRows.length > 0 || isBusy ? common.cancel : common.close}
          </Button>
          {readyRows.length === 0 && !isBusy ? null : (
            <Button
              type="submit"
              {...(typed === undefined ? {} : { color: 'red' })}
              loading={isBusy}
              disabled={!isAllowed}
            >
              {props.action}
            </Button>
          )}
        </Group>
      </form>
    </Dialog>
  );
}

interface Steps<Row, Read> {
  readonly steps: ReadonlyMap<string, Step<Read>>;
  readonly readyRows: readonly Row[];
  readonly isBusy: boolean;
  run(): void;
  readAgain(rows: readonly Row[]): void;
}

/** No further change begins once the dialog is closed. */
function useSteps<Row, Read>(props: BulkDialogProps<Row, Read>): Steps<Row, Read> {
  const { rows, keyOf, read, change, onChanged } = props;
  const [steps, setSteps] = useState<ReadonlyMap<string, Step<Read>>>(new Map());
  const [isBusy, setBusy] = useState(true);
  const stop = useRef(new AbortController());
  const put = (row: Row, step: Step<Read>) => setSteps((before) => new Map(before).set(keyOf(row), step));
  const each = async <Result,>(
    some: readonly Row[],
    state: 'reading' | 'running',
    task: (row: Row) => Promise<Result>,
    stepOf: (result: Result) => Step<Read>,
  ): Promise<readonly Row[]> => {
    const done: Row[] = [];
    const report = (row: Row, outcome: TaskOutcome<Result>) => {
      if (outcome.isDone) done.push(row);
      put(row, outcome.isDone ? stepOf(outcome.result) : { state: 'failed', error: outcome.error });
    };
    const { signal } = stop.current;
    setBusy(true);
    const begin = (row: Row) => {
      put(row, { state });
      return task(row);
    };
    await runEach(some, begin, report, signal);
    if (!signal.aborted) setBusy(false);
    return done;
  };
  const readAgain = (some: readonly Row[]) =>
    void each(some, 'reading', read, (result) => ({ state: 'ready', read: result }));
  // Rows that change while the dialog is open are those that it was opened for.
  const readFirst = useRef(() => readAgain(rows));
  useEffect(() => {
    const own = new AbortController();
    stop.current = own;
    readFirst.current();
    return () => own.abort();
  }, []);
  const readyRows = rows.filter((row) => steps.get(keyOf(row))?.state === 'ready');
  const run = async (): Promise<void> => {
    const task = (row: Row) => {
      const step = steps.get(keyOf(row));
      return step?.state === 'ready' ? change(row, step.read) : Promise.resolve();
    };
    const done = await each(readyRows, 'running', task, () => ({ state: 'done' }));
    if (done.length > 0) onChanged(done);
  };
  return { steps, readyRows, isBusy, run: () => void run(), readAgain };
}

function StepState<Read>({ step }: { readonly step: Step<Read> | undefined }): ReactNode {
  const [text, common, format] = [useText(tablesText), useText(partsText), useFormat()];
  switch (step?.state) {
    case 'failed':
      return (
        <span className="fd-wrap">
          <StateBadge tone="bad">{sentenceOf(step.error, common, format)}</StateBadge>
        </span>
      );
    case 'done':
      return <StateBadge tone="good">{text.done}</StateBadge>;
    case 'ready':
      return <span className="fd-soft">{text.ready}</span>;
    case 'running':
      return <span className="fd-soft">{text.running}</span>;
    case 'reading':
      return <span className="fd-soft">{text.reading}</span>;
    default:
      return <span className="fd-soft">{text.waiting}</span>;
  }
}

/** Spoken when the changes have been carried out. */
function Summary<Read>({ steps }: { readonly steps: readonly Step<Read>[] }): ReactNode {
  const [text, format] = [useText(tablesText), useFormat()];
  const count = (wanted: string) => steps.filter(({ state }) => state === wanted).length;
  const isOver = count('done') > 0 && count('running') === 0 && count('ready') === 0;
  return (
    <p role="status">
      {isOver ? text.result(format.number(count('done')), format.number(count('failed'))) : null}
    </p>
  );
}
