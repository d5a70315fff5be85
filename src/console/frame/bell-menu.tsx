/** What needs attention in the frontdoor now, from anywhere in the console. The stream of changes keeps it up to date. */
import { Button, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { Icon } from '../parts/icon.tsx';
import { useText } from '../text/language.tsx';
import { attentionLines } from './attention-lines.ts';
import { frameText } from './frame-text.ts';

export function BellMenu({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const text = useText(frameText);
  const { may } = useSession();
  const navigate = useNavigate();
  const { data } = useAnswer('getFrontdoorAttention', { parameters: { frontdoorId } });
  const lines = data === undefined ? [] : attentionLines(data.body);
  const count = lines.reduce((sum, line) => sum + line.count, 0);
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button variant="default" size="sm" px="xs" aria-label={text.attentionCount(count)}>
          <Icon name="bell" />
          {count === 0 ? null : <span className="fd-warn">&nbsp;{count}</span>}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{text.attention}</Menu.Label>
        {lines.length === 0 ? <Menu.Item disabled>{text.attentionNone}</Menu.Item> : null}
        {lines.map((line) => (
          <Menu.Item key={line.of} onClick={() => void navigate({ to: line.to })}>
            {text.attentionLine(line.of, line.count)}
          </Menu.Item>
        ))}
        {may('listNotificationDestinations') ? (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => void navigate({ to: '/settings/notifications' })}>
              {text.notificationSettings}
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
