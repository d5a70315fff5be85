/** Asks the person to log in again, in a window of its own. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { partsText } from '../parts/parts-text.ts';
import { place } from '../place.ts';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';

export function LogInAgainDialog(props: {
  readonly reason: 'ended' | 'too-old';
  readonly onClose: () => void;
}): ReactNode {
  const [text, common] = [useText(frameText), useText(partsText)];
  const isOld = props.reason === 'too-old';
  const logIn = () => {
    const target = encodeURIComponent(`${place.base}/logged-in-again`);
    window.open(`${place.base}/log-in?to=${target}`, '_blank', 'popup,width=520,height=720');
  };
  return (
    <Dialog title={isOld ? text.tooOld : text.ended} isOpen onClose={props.onClose} size="md">
      <p>{isOld ? text.tooOldText : text.endedText}</p>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={props.onClose}>
          {common.cancel}
        </Button>
        <Button onClick={logIn}>{text.logIn}</Button>
      </Group>
    </Dialog>
  );
}
