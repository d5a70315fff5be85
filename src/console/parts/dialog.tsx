/** Dialogs. While one is open, the answers behind it do not change; the focus returns to where it was. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { isApiError } from '../api/api-error.ts';
import { useProgram } from '../api/program.tsx';
import { useHeldChanges } from '../api/use-changes.ts';
import { useText } from '../text/language.tsx';
import { focusedOpener, OpenDialogs } from './open-dialogs.ts';
import { partsText } from './parts-text.ts';
import { Problem } from './problem.tsx';

export function Dialog(props: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly size?: string | undefined;
  /** False while something would be lost by a click beside the dialog. */
  readonly closesOutside?: boolean | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(partsText);
  useHeldChanges(props.isOpen);
  useOpenDialog(props.isOpen, props.onClose);
  return (
    <Modal
      opened={props.isOpen}
      onClose={props.onClose}
      closeOnEscape={false}
      returnFocus={false}
      title={props.title}
      size={props.size ?? 'lg'}
      closeOnClickOutside={props.closesOutside ?? false}
      closeButtonProps={{ 'aria-label': text.close }}
      transitionProps={{ duration: 0 }}
      // It would add a style that the content policy forbids; the style sheet does the same.
      lockScroll={false}
    >
      {props.children}
    </Modal>
  );
}

function useOpenDialog(isOpen: boolean, onClose: () => void): void {
  const dialogs = useProgram().partOf(OpenDialogs);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  const opener = useMemo(() => (isOpen ? focusedOpener() : undefined), [isOpen]);
  useEffect(
    () => (isOpen ? dialogs.open(opener, () => close.current()) : undefined),
    [dialogs, isOpen, opener],
  );
}

/** Asks before something is deleted or ended. `typed`: a name that has to be typed, for what cannot be undone. */
export function ConfirmDialog(props: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly action: string;
  readonly typed?: string | undefined;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** Loads the new state, after someone else's change was refused to be overwritten. */
  readonly onStale?: () => void;
  readonly onConfirm: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(partsText);
  const [typed, setTyped] = useState('');
  // A page that has one change for all its rows still has the error of another row when the dialog opens again.
  const [errorBefore] = useState(props.error);
  const error = props.error === errorBefore ? null : props.error;
  const isConfirmed = props.typed === undefined || typed === props.typed;
  const confirm = () => {
    if (isConfirmed && !props.isPending) props.onConfirm();
  };
  return (
    <Dialog title={props.title} isOpen={props.isOpen} onClose={props.onClose} size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirm();
        }}
      >
        {error === null ? null : (
          <Problem error={error} onAgain={isApiError(error, 412) ? props.onStale : undefined} />
        )}
        <div>{props.children}</div>
        {props.typed === undefined ? null : (
          <TextInput
            mt="md"
            label={text.typeToConfirm(props.typed)}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            autoComplete="off"
          />
        )}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={props.onClose} data-autofocus>
            {text.cancel}
          </Button>
          <Button type="submit" color="red" loading={props.isPending} disabled={!isConfirmed}>
            {props.action}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
