/** Says that what a form was filled from has changed, and loads the new state instead of what was typed. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { partsText } from './parts-text.ts';

export function ChangedMeanwhile({ onLoad }: { readonly onLoad: () => void }): ReactNode {
  const text = useText(partsText);
  return (
    <Group mb="md" role="status">
      <span className="fd-warn">{text.changedWhileTyping}</span>
      <Button size="xs" variant="default" onClick={onLoad}>
        {text.loadNew}
      </Button>
    </Group>
  );
}
