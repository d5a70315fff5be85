/** The button of the person's menu. The menu itself is loaded right after the first page, which is drawn without it. */
import { Button } from '@mantine/core';
import { useEffect, useState, type ComponentProps, type ReactNode } from 'react';
import { laterFile } from '../api/later-files.ts';
import { useSession } from '../api/session.tsx';
import { Icon } from '../parts/icon.tsx';
import { useText } from '../text/language.tsx';
import type { AccountMenu } from './account-menu.tsx';
import { frameText } from './frame-text.ts';

const menuFile = laterFile(async () => (await import('./account-menu.tsx')).AccountMenu);

export function AccountButton(props: Omit<ComponentProps<typeof AccountMenu>, 'isOpen'>): ReactNode {
  const text = useText(frameText);
  const { caller } = useSession();
  const [Menu, setMenu] = useState<typeof AccountMenu | undefined>(() => menuFile.current);
  const [presses, setPresses] = useState(0);
  useEffect(() => {
    // A press tries again.
    menuFile.load().then(
      (loaded) => setMenu(() => loaded),
      () => undefined,
    );
  }, [presses]);
  if (Menu !== undefined) return <Menu {...props} isOpen={presses > 0} />;
  return (
    <Button
      variant="default"
      size="sm"
      leftSection={<Icon name="person" />}
      aria-haspopup="menu"
      onClick={() => setPresses(presses + 1)}
    >
      {caller.name ?? text.account}
    </Button>
  );
}
