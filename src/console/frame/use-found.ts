/**
 * What a typed text finds. Pages and commands whose names begin with it come first, because they are known at once and the list
 * must not move under the person who presses Enter; then resources by the API, then weaker matches.
 */
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import type { SearchResultAnswer } from '#contract/schemas';
import { useAnswer } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { actionText } from '../pages/activity/action-text.ts';
import { useLanguage, useText } from '../text/language.tsx';
import { useCommands, type FrameActions } from './commands.ts';
import { frameText } from './frame-text.ts';
import { useRecentPages, useSearchPages, type SearchPage } from './search-pages.ts';
import { ranked } from './search-ranking.ts';
import { placeOf, type SearchPlace } from './search-target.ts';
import { searchText } from './search-text.ts';

const MIN_LETTERS = 2;

export interface FoundTarget {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  readonly detail: string | null;
  /** Whether it is not of an answer to an earlier text. */
  readonly isCertain: boolean;
  /** The address; undefined for a command. */
  readonly to?: string;
  readonly run: () => void;
}

export function useFound(typed: string, actions: FrameActions) {
  const text = useText(frameText);
  const navigate = useNavigate();
  const wanted = typed.trim();
  const asked = useDeferredValue(wanted);
  const isAsked = asked.length >= MIN_LETTERS;
  const answer = useAnswer('search', { query: { q: asked } }, { enabled: isAsked });
  const isPending =
    wanted.length >= MIN_LETTERS &&
    (asked !== wanted || ((answer.isPending || answer.isPlaceholderData) && answer.error === null));
  const go = (target: SearchPlace) => void navigate(target);
  const pageAt = ({ to, name, kind, words }: SearchPage) => ({
    key: `${kind} ${to}`,
    to,
    name,
    kind,
    words,
    run: () => go({ to }),
  });
  const commands = useCommands(actions).map(({ name, words, run }) => ({
    key: name,
    name,
    words,
    kind: text.commands,
    run,
  }));
  const recent = useRecentPages().map(pageAt);
  const known = new Set(recent.map(({ to }) => to));
  const pages = useSearchPages()
    .filter(({ to }) => !known.has(to))
    .map(pageAt);
  const { strong, weak } = ranked([...recent, ...pages, ...commands], wanted);
  const resources = useResources(isAsked ? answer.data?.body : undefined, isPending, go);
  const found: readonly FoundTarget[] = [
    ...strong.map((entry) => ({ ...entry, detail: null, isCertain: true })),
    ...resources.filter(({ to }) => to === undefined || !known.has(to)),
    ...weak.map((entry) => ({ ...entry, detail: null, isCertain: !isPending })),
  ];
  return {
    found,
    isPending,
    error: answer.error,
    hasNoResult: isAsked && !isPending && found.length === 0,
    hasMore: isAsked && answer.data?.body.more === true,
  };
}

function useResources(
  body: SearchResultAnswer | undefined,
  isPending: boolean,
  go: (target: SearchPlace) => void,
): readonly FoundTarget[] {
  const [text, own] = [useText(frameText), useText(searchText)];
  const { language, format } = useLanguage();
  const { may } = useSession();
  const isShown = ({ kind }: SearchResultAnswer['results'][number]): boolean =>
    kind !== 'audit-event' || may('listAuditEvents');
  return (body?.results ?? []).filter(isShown).map((result) => {
    const { kind, id, name, detail, at } = result;
    const target = placeOf(result);
    const details = [detail, at === null ? null : format.dateTime(Date.parse(at))];
    return {
      // A share is found by its token and by its domains.
      key: `${kind} ${id} ${name}`,
      name: kind === 'audit-event' ? actionText(name, language) : name,
      kind: own.kinds(kind) || text.kinds(kind),
      detail: details.filter((part) => part !== null).join(' · ') || null,
      isCertain: !isPending,
      to: target.to,
      run: () => go(target),
    };
  });
}
