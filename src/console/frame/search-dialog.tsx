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

/** `onKeys` opens the list of keys in place of this dialog. */
export function SearchDialog(props: {
  readonly onClose: () => void;
  readonly onKeys: () => void;
  readonly typed: string;
  readonly onTyped: (typed: string) => void;
}): ReactNode {
  const text = useText(frameText);
  const navigate = useNavigate();
  const { typed, onTyped } = props;
  const [at, setAt] = useState(0);
  const id = useId();
  const asked = useDeferredValue(typed.trim());
  const answer = useAnswer('search', { query: { q: asked } }, { enabled: asked.length >= MIN_LETTERS });
  const entries = navigationOf(useSession(), useCurrentFrontdoor()).flatMap((group) => group.entries);
  const commands = useCommands(props.onKeys);
  const pageAt = (to: string, name: string, kind: string): Found => ({
    ...{ key: `${kind} ${to}`, name, kind },
    run: () => void navigate({ to }),
  });
  const isWanted = ({ name }: Found) => name.toLowerCase().includes(typed.trim().toLowerCase());
  const results: readonly Found[] =
    asked.length < MIN_LETTERS
      ? []
      : (answer.data?.body.results ?? []).map((result) =>
          pageAt(pageOf(result), result.name, text.kinds(result.kind)),
        );
  const found = [
    ...results,
    ...entries.map(({ to, label }) => pageAt(to, text[label], text.pages)).filter(isWanted),
    ...commands.map(({ name, run }) => ({ key: name, name, kind: text.commands, run })).filter(isWanted),
  ];
  const selected = Math.min(at, found.length - 1);

  const go = (target: Found | undefined) => {
    if (target === undefined) return;
    props.onClose();
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
    <Dialog title={text.search} isOpen onClose={props.onClose} closesOutside>
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
              go(target);
            }}
          >
            <span>{target.name}</span> <span className="fd-soft fd-small">{target.kind}</span>
          </li>
        ))}
      </ul>
      <p role="status" className="fd-soft fd-small">
        {asked.length >= MIN_LETTERS && answer.data !== undefined && results.length === 0
          ? text.searchNone
          : null}
        {answer.data?.body.more === true ? text.searchMore : null}
      </p>
    </Dialog>
  );
}
