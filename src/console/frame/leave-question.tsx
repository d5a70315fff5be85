/** Asks before a page with unsaved input is left. The browser asks itself where the program would be left. */
import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { dropUnsavedInput, hasUnsavedInput } from '../parts/unsaved.ts';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';

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
  return <UnsavedQuestion onStay={blocker.reset} onLeave={blocker.proceed} />;
}

export function UnsavedQuestion(props: {
  readonly onStay: () => void;
  readonly onLeave: () => void;
}): ReactNode {
  const text = useText(frameText);
  return (
    <ConfirmDialog
      title={text.leave}
      isOpen
      onClose={props.onStay}
      action={text.leaveAnyway}
      isPending={false}
      error={null}
      onConfirm={() => {
        dropUnsavedInput();
        props.onLeave();
      }}
    >
      <p>{text.leaveText}</p>
    </ConfirmDialog>
  );
}
