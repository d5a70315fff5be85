/** Search over everything that the person may see, over the pages of the console, and over its commands. */
import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useAnswer } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { useText } from '../text/language.tsx';
import { useCommands } from './commands.ts';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor } from './frontdoor.tsx';
import { navigationOf } from './navigation.ts';
import { pageOf } from './search-target.ts';

const MIN_LETTERS = 2;

interface Found {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  readonly run: () => void;
}

/** `onKeys` opens the list of keys instead of this dialog. */
export function SearchDialog(props: {
  readonly onClose: () => void;
  readonly onKeys: () => void;
  readonly typed: string;
  readonly onTyped: (typed: string) => void;
}): ReactNode {
  const text = useText(frameText);
  const { typed, onTyped, onClose } = props;
  const [at, setAt] = useState(0);
  const id = useId();
  const { answer, found, hasNoResult } = useFound(typed, props.onKeys);
  const selected = Math.min(at, found.length - 1);
  const go = (target: Found | undefined) => {
    if (target === undefined) return;
    onClose();
    target.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, selected + step)));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      go(found[selected]);
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
      {answer.error === null ? null : <Problem error={answer.error} />}
      <FoundList id={id} found={found} selected={selected} onChosen={go} />
      <p role="status" className="fd-soft fd-small">
        {hasNoResult ? text.searchNone : null}
        {answer.data?.body.more === true ? text.searchMore : null}
      </p>
    </Dialog>
  );
}

/** What the typed text finds: resources by the API, then pages and commands. */
function useFound(typed: string, openKeys: () => void) {
  const text = useText(frameText);
  const navigate = useNavigate();
  const asked = useDeferredValue(typed.trim());
  const isAsked = asked.length >= MIN_LETTERS;
  const answer = useAnswer('search', { query: { q: asked } }, { enabled: isAsked });
  const entries = navigationOf(useSession(), useCurrentFrontdoor()).flatMap((group) => group.entries);
  const commands = useCommands(openKeys);
  const pageAt = (to: string, name: string, kind: string): Found => ({
    // A share is found by its token and by its domains.
    key: `${kind} ${to} ${name}`,
    name,
    kind,
    run: () => void navigate({ to }),
  });
  const isMatch = ({ name }: Found) => name.toLowerCase().includes(typed.trim().toLowerCase());
  const results = (isAsked ? (answer.data?.body.results ?? []) : []).map((result) =>
    pageAt(pageOf(result), result.name, text.kinds(result.kind)),
  );
  const found = [
    ...results,
    ...entries.map(({ to, label }) => pageAt(to, text[label], text.pages)).filter(isMatch),
    ...commands.map(({ name, run }) => ({ key: name, name, kind: text.commands, run })).filter(isMatch),
  ];
  return { answer, found, hasNoResult: isAsked && answer.data !== undefined && results.length === 0 };
}

function FoundList(props: {
  readonly id: string;
  readonly found: readonly Found[];
  readonly selected: number;
  readonly onChosen: (target: Found) => void;
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
        </li>
      ))}
    </ul>
  );
}
