/** The person's menu: account, appearance, language, log-out. */
import { Button, Menu, useMantineColorScheme } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../api/session.tsx';
import { Icon } from '../parts/icon.tsx';
import { place } from '../place.ts';
import { LANGUAGES, type Language } from '../text/define-text.ts';
import { useLanguage, useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';

const SCHEMES = [
  ['light', 'light'],
  ['dark', 'dark'],
  ['auto', 'system'],
] as const;

export function AccountMenu({
  onKeys,
  onTour,
  onLogOut,
  isOpen,
}: {
  readonly onKeys: () => void;
  readonly onTour: () => void;
  readonly onLogOut: () => void;
  /** Whether it opens as soon as it is there. */
  readonly isOpen: boolean;
}): ReactNode {
  const text = useText(frameText);
  const { caller } = useSession();
  const { language, setLanguage } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const mark = (isChosen: boolean) => (isChosen ? <Icon name="check" /> : null);
  return (
    <Menu defaultOpened={isOpen} position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button variant="default" size="sm" leftSection={<Icon name="person" />}>
          {caller.name ?? text.account}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={`${place.base}/account`}>
          {text.account}
        </Menu.Item>
        <Menu.Item onClick={onKeys}>{text.keys}</Menu.Item>
        <Menu.Item onClick={onTour}>{text.tour}</Menu.Item>
        <Menu.Divider />
        <Menu.Label>{text.appearance}</Menu.Label>
        {SCHEMES.map(([scheme, label]) => (
          <Menu.Item
            key={scheme}
            rightSection={mark(colorScheme === scheme)}
            onClick={() => setColorScheme(scheme)}
          >
            {text[label]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{text.language}</Menu.Label>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <Menu.Item
            key={code}
            lang={code}
            rightSection={mark(language === code)}
            onClick={() => setLanguage(code as Language)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={onLogOut}>{text.logOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
