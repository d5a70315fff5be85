/** A secret that the API shows once. It is in the memory of this page only, and goes when the dialog closes. */
import { Button, Checkbox, Group } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { CopyText } from './copy-text.tsx';
import { Dialog } from './dialog.tsx';
import { Facts } from './page-title.tsx';
import { partsText } from './parts-text.ts';

export function SecretOnceDialog(props: {
  readonly title: string;
  /** Names and values, of which the secret is one; undefined: the dialog is closed. */
  readonly facts: readonly (readonly [string, string])[] | undefined;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}): ReactNode {
  const text = useText(partsText);
  const [isKept, setKept] = useState(false);
  const close = () => {
    if (!isKept) return;
    setKept(false);
    props.onClose();
  };
  return (
    <Dialog title={props.title} isOpen={props.facts !== undefined} onClose={close} closesOutside={false}>
      <p>{text.secretOnce}</p>
      <Facts
        facts={(props.facts ?? []).map(([name, value]) => [name, <CopyText key={name} value={value} />])}
      />
      {props.children}
      <Checkbox
        mt="md"
        label={text.keptIt}
        checked={isKept}
        onChange={({ currentTarget }) => setKept(currentTarget.checked)}
      />
      <Group justify="flex-end" mt="lg">
        <Button disabled={!isKept} onClick={close}>
          {text.close}
        </Button>
      </Group>
    </Dialog>
  );
}
