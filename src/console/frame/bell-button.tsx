/** The button that lists what needs attention. It is loaded after the first page, which is drawn with a button of the same size. */
import { Button } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { laterFile } from '../api/later-files.ts';
import { Icon } from '../parts/icon.tsx';
import { useText } from '../text/language.tsx';
import type { BellMenu } from './bell-menu.tsx';
import { frameText } from './frame-text.ts';

const bellFile = laterFile(async () => (await import('./bell-menu.tsx')).BellMenu);

export function BellButton({ frontdoorId }: { readonly frontdoorId: string | undefined }): ReactNode {
  const text = useText(frameText);
  const [Bell, setBell] = useState<typeof BellMenu | undefined>(() => bellFile.current);
  useEffect(() => {
    bellFile.load().then(
      (loaded) => setBell(() => loaded),
      () => undefined,
    );
  }, []);
  if (Bell !== undefined && frontdoorId !== undefined) return <Bell frontdoorId={frontdoorId} />;
  return (
    <Button variant="default" size="sm" px="xs" aria-label={text.attention} disabled>
      <Icon name="bell" />
    </Button>
  );
}
