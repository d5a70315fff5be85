/**
 * An edit of a resource that others can change, too. Until something is typed it follows the resource. From then on it is about
 * the state that was read, whose tag refuses to overwrite what others changed; the person decides how to continue.
 */
import { useState } from 'react';
import { mergeTyped } from './merge-typed.ts';

/** A resource as it was read, with its tag. */
export interface ReadState<T> {
  readonly body: T;
  readonly etag: string | undefined;
}

/** A resource as a page has it, and the way to read it again. */
export interface Editable<T> {
  readonly now: ReadState<T>;
  /** Undefined: there was no answer, which the page shows. */
  readonly reload: () => Promise<ReadState<T> | undefined>;
}

export interface Edit<T, D extends object> {
  readonly draft: D;
  /** The state that the draft was made from. Its tag belongs to the change. */
  readonly base: ReadState<T>;
  readonly isTyped: boolean;
  /** Whether the resource has changed since the person began to type. */
  readonly isOutdated: boolean;
  type(changes: Partial<D>): void;
  /** Drops what was typed. */
  discard(): void;
  /** Called with the answer to the change. */
  saved(answer: ReadState<T>): void;
  /** Reads the resource again, and drops what was typed. */
  loadNew(): Promise<void>;
  /** Reads the resource again, and puts what was typed onto it. */
  keepTyped(): Promise<void>;
}

/** An edit as a form shows it. */
export type FormEdit = Pick<Edit<unknown, object>, 'isTyped' | 'isOutdated' | 'loadNew' | 'keepTyped'>;

/** Two edits in one form. */
export function joinedEdit(one: FormEdit, other: FormEdit): FormEdit {
  return {
    isTyped: one.isTyped || other.isTyped,
    isOutdated: one.isOutdated || other.isOutdated,
    loadNew: async () => {
      await Promise.all([one.loadNew(), other.loadNew()]);
    },
    keepTyped: async () => {
      await Promise.all([one.keepTyped(), other.keepTyped()]);
    },
  };
}

interface Held<T, D> {
  readonly draft: D;
  readonly base: ReadState<T>;
}

interface Saved<T> {
  readonly answer: ReadState<T>;
  /** What the page had then: until it has something else, the answer is newer. Tags may come back with an earlier content. */
  readonly replaced: T;
}

export function useEdit<T, D extends object>({
  now,
  reload,
  draftOf,
}: Editable<T> & { readonly draftOf: (body: T) => D }): Edit<T, D> {
  const [held, setHeld] = useState<Held<T, D>>();
  const [last, setLast] = useState<Saved<T>>();
  const current = last !== undefined && last.replaced === now.body ? last.answer : now;
  const base = held?.base ?? current;
  const draft = held?.draft ?? draftOf(base.body);
  return {
    draft,
    base,
    isTyped: held !== undefined,
    isOutdated: held !== undefined && isOther(held.base, current),
    type: (changes) =>
      setHeld((before = { base: current, draft: draftOf(current.body) }) => ({
        ...before,
        draft: { ...before.draft, ...changes },
      })),
    discard: () => setHeld(undefined),
    saved: (answer) => {
      setLast({ answer, replaced: now.body });
      setHeld(undefined);
    },
    loadNew: async () => {
      if ((await reload()) === undefined) return;
      setLast(undefined);
      setHeld(undefined);
    },
    keepTyped: async () => {
      const fresh = await reload();
      if (fresh === undefined) return;
      setLast(undefined);
      setHeld(
        (before) =>
          before && {
            base: fresh,
            draft: mergeTyped(draftOf(before.base.body), before.draft, draftOf(fresh.body)),
          },
      );
    },
  };
}

function isOther({ etag: before }: ReadState<unknown>, { etag: now }: ReadState<unknown>): boolean {
  return before !== now;
}

/** Reads the answer of a page again, for `useEdit`. */
export function reloadOf<T>(answer: {
  refetch(): Promise<{ readonly data: T | undefined; readonly isError: boolean }>;
}): () => Promise<T | undefined> {
  return async () => {
    const { data, isError } = await answer.refetch();
    return isError ? undefined : data;
  };
}
