/** Asks before a page with unsaved input is left. The browser asks itself where the program would be left. */
import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { laterDialog } from '../parts/later-page.tsx';
import { hasUnsavedInput } from '../parts/unsaved.ts';

const UnsavedQuestion = laterDialog(async () => (await import('./unsaved-question.tsx')).UnsavedQuestion);

interface Place {
  readonly pathname: string;
}

const leavesPage = ({ current, next }: { readonly current: Place; readonly next: Place }): boolean =>
  current.pathname !== next.pathname && hasUnsavedInput();

export function LeaveQuestion(): ReactNode {
  const blocker = useBlocker({
    shouldBlockFn: leavesPage,
    enableBeforeUnload: hasUnsavedInput,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return <UnsavedQuestion onClose={blocker.reset} onLeave={blocker.proceed} />;
}
