/** Asks whether unsaved input is given up. */
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { dropUnsavedInput } from '../parts/unsaved.ts';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';

export function UnsavedQuestion(props: {
  readonly onClose: () => void;
  readonly onLeave: () => void;
}): ReactNode {
  const text = useText(frameText);
  return (
    <ConfirmDialog
      title={text.leave}
      isOpen
      onClose={props.onClose}
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
