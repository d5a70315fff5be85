/** A choice of a role, with what it permits. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { BodyOf } from '#contract';
import { useSession } from '../../api/session.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

export type RoleName = BodyOf<'createInvitation'>['role'];

const ROLES: readonly RoleName[] = ['reader', 'editor', 'administrator', 'operator'];

export function RoleChoice(props: {
  readonly label: string;
  readonly value: RoleName;
  readonly onChange: (role: RoleName) => void;
}): ReactNode {
  const text = useText(settingsText);
  const { isOperator } = useSession();
  const offered = ROLES.filter((role) => role !== 'operator' || isOperator || props.value === role);
  return (
    <NativeSelect
      label={props.label}
      description={text.roleText(props.value)}
      value={props.value}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value as RoleName)}
      data={offered.map((role) => ({ value: role, label: text.roleName(role) }))}
    />
  );
}
