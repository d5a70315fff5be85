/** Search over everything that the person may see, over the pages of the console, and over its commands. */
import { TextInput } from '@mantine/core';
import { useEffect, useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { useText } from '../text/language.tsx';
import type { FrameActions } from './commands.ts';
import { frameText } from './frame-text.ts';
import { useFound, type FoundTarget } from './use-found.ts';

/** Enter, typed before the box was there. */
const ENTER = '\n';

export function SearchDialog(props: {
  readonly onClose: () => void;
  readonly actions: FrameActions;
  readonly typed: string;
  readonly onTyped: (typed: string) => void;
}): ReactNode {
  const text = useText(frameText);
  const { onTyped, onClose } = props;
  const typed = props.typed.replace(ENTER, '');
  const [at, setAt] = useState(0);
  const id = useId();
  const { error, found, isPending, hasNoResult, hasMore } = useFound(typed, props.actions);
  const selected = Math.min(at, found.length - 1);
  const go = (target: FoundTarget | undefined) => {
    if (target === undefined) return;
    onClose();
    target.run();
  };
  const enter = useEnter(props.typed.endsWith(ENTER), isPending, typed, () => go(found[selected]));
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, selected + step)));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      enter(found[selected]?.isCertain === true || at > 0);
    }
  };
  return (
    <Dialog title={text.search} isOpen onClose={onClose} closesOutside>
      <TextInput
        data-autofocus
        label={text.searchLabel}
        description={text.searchHint}
        value={typed}
        onChange={({ currentTarget }) => {
          onTyped(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        {...(selected >= 0 ? { 'aria-activedescendant': `${id}-${selected}` } : {})}
        autoComplete="off"
        spellCheck={false}
      />
      {error === null ? null : <Problem error={error} />}
      <FoundList id={id} found={found} selected={selected} onChosen={go} />
      <p role="status" className="fd-soft fd-small">
        {hasNoResult ? text.searchNone : null}
        {hasMore ? text.searchMore : null}
      </p>
    </Dialog>
  );
}

/** Returns what Enter does: it goes to the selected entry, as soon as the answer for the typed text is there. */
function useEnter(
  isTypedAhead: boolean,
  isPending: boolean,
  typed: string,
  go: () => void,
): (isCertain: boolean) => void {
  const [enteredFor, setEnteredFor] = useState(isTypedAhead ? typed : undefined);
  const isDue = enteredFor === typed && !isPending;
  useEffect(() => {
    if (!isDue) return;
    setEnteredFor(undefined);
    go();
    // oxlint-disable-next-line react/exhaustive-deps
  }, [isDue]);
  return (isCertain) => {
    if (isCertain || !isPending) go();
    else setEnteredFor(typed);
  };
}

function FoundList(props: {
  readonly id: string;
  readonly found: readonly FoundTarget[];
  readonly selected: number;
  readonly onChosen: (target: FoundTarget) => void;
}): ReactNode {
  const text = useText(frameText);
  const { id, found, selected, onChosen } = props;
  return (
    <ul id={`${id}-list`} role="listbox" aria-label={text.search} className="fd-results">
      {found.map((target, index) => (
        <li
          key={target.key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === selected}
          ref={index === selected ? (option) => option?.scrollIntoView({ block: 'nearest' }) : null}
          onMouseDown={(event) => {
            event.preventDefault();
            onChosen(target);
          }}
        >
          <span>{target.name}</span> <span className="fd-soft fd-small">{target.kind}</span>
          {target.detail === null ? null : (
            <>
              {' '}
              <span className="fd-soft fd-small fd-result-detail">{target.detail}</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
