/** Search over everything that the person may see, and over the pages of the console. */
import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useAnswer } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor } from './frontdoor.tsx';
import { navigationOf } from './navigation.ts';
import { pageOf } from './search-target.ts';

const MIN_LETTERS = 2;

interface Found {
  readonly to: string;
  readonly name: string;
  readonly kind: string;
}

export function SearchDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(frameText);
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const asked = useDeferredValue(typed.trim());
  const answer = useAnswer('search', { query: { q: asked } }, { enabled: asked.length >= MIN_LETTERS });
  const entries = navigationOf(useSession(), useCurrentFrontdoor()).flatMap((group) => group.entries);
  const pages: readonly Found[] = entries
    .map(({ to, label }) => ({ to, name: text[label], kind: text.pages }))
    .filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()));
  const results: readonly Found[] =
    asked.length < MIN_LETTERS
      ? []
      : (answer.data?.body.results ?? []).map((result) => ({
          to: pageOf(result),
          name: result.name,
          kind: text.kinds(result.kind),
        }));
  const found = [...results, ...pages];
  const selected = Math.min(at, found.length - 1);

  const go = (target: Found | undefined) => {
    if (target === undefined) return;
    onClose();
    void navigate({ to: target.to });
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
          setTyped(currentTarget.value);
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
            key={`${target.kind} ${target.to}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
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
