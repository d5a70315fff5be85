/** The state of a router or of a gateway. */
import type { ReactNode } from 'react';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

export function NodeState({
  node,
}: {
  readonly node: { readonly enrolled: boolean; readonly online: boolean };
}): ReactNode {
  const text = useText(meshText);
  if (!node.enrolled) return <StateBadge tone="soft">{text.notEnrolled}</StateBadge>;
  return (
    <StateBadge tone={node.online ? 'good' : 'bad'}>{node.online ? text.online : text.offline}</StateBadge>
  );
}
