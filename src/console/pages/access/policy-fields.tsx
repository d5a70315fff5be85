/** Fields of the form of a policy. The name of each is that of the API, whose messages appear at it. */
import { Button, Group, NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { EntryList } from '../../parts/entry-list.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { accessText } from './access-text.ts';
import type { BasicUserDraft, ClaimDraft, PolicyDraft } from './policy-draft.ts';
import { SPAN_UNITS, type SpanDraft, type SpanUnit } from './span-draft.ts';

/** The API shows it instead of a stored password, which it keeps when this is sent back. */
const MASK = '********';

/** A section of the form. */
export interface SectionProps {
  readonly draft: PolicyDraft;
  readonly set: (changes: Partial<PolicyDraft>) => void;
  /** Whether the rules are those of a shared policy, which cannot decide about the names below one share. */
  readonly isShared?: boolean | undefined;
}

/** A number and its unit. */
export function SpanField(props: {
  readonly name: string;
  readonly label: string;
  readonly value: SpanDraft;
  readonly onChange: (value: SpanDraft) => void;
}): ReactNode {
  const text = useText(accessText);
  const { name, label, value, onChange } = props;
  return (
    <Group gap="xs" align="end" mb="md" wrap="nowrap">
      <TextInput
        label={label}
        error={useFieldError(name)}
        value={value.amount}
        onChange={({ currentTarget }) => onChange({ ...value, amount: currentTarget.value })}
        inputMode="numeric"
        autoComplete="off"
        flex={1}
      />
      <NativeSelect
        aria-label={text.unit(label)}
        value={value.unit}
        onChange={({ currentTarget }) => onChange({ ...value, unit: currentTarget.value as SpanUnit })}
        data={SPAN_UNITS.map((unit) => ({ value: unit, label: text.units(unit) }))}
      />
    </Group>
  );
}

export function ClaimsField(props: {
  readonly value: readonly ClaimDraft[];
  readonly onChange: (value: readonly ClaimDraft[]) => void;
}): ReactNode {
  const [text, format] = [useText(accessText), useFormat()];
  const { value, onChange } = props;
  return (
    <EntryList
      name="claims"
      legend={text.claims}
      help={text.claimsHelp}
      entries={value}
      nameOf={({ claim }, at) => (claim === '' ? text.ruleOf(format.number(at + 1)) : claim)}
      add={text.addClaim}
      remove={text.removeRule}
      newEntry={() => ({ claim: value.length === 0 ? 'groups' : '', anyOf: '' })}
      onChange={onChange}
    >
      {(rule, place) => (
        <>
          <TextField
            name={`${place.path}.claim`}
            label={text.claim}
            description={text.claimHelp}
            value={rule.claim}
            onChange={(claim) => place.onChange({ ...rule, claim })}
          />
          <LinesField
            name={`${place.path}.anyOf`}
            label={text.anyOf}
            description={text.groupsHelp}
            value={rule.anyOf}
            onChange={(anyOf) => place.onChange({ ...rule, anyOf })}
          />
        </>
      )}
    </EntryList>
  );
}

export function UsersField(props: {
  readonly value: readonly BasicUserDraft[];
  readonly onChange: (value: readonly BasicUserDraft[]) => void;
}): ReactNode {
  const [text, format] = [useText(accessText), useFormat()];
  const { value, onChange } = props;
  return (
    <EntryList
      name="basicAuth"
      legend={text.users}
      help={text.usersHelp}
      entries={value}
      nameOf={({ name }, at) => (name === '' ? text.userOf(format.number(at + 1)) : name)}
      add={text.addUser}
      remove={text.removeUser}
      newEntry={() => ({ name: '', password: '' })}
      onChange={onChange}
    >
      {(user, place) => (
        <>
          <TextField
            name={`${place.path}.name`}
            label={text.user}
            value={user.name}
            onChange={(name) => place.onChange({ ...user, name })}
          />
          <PasswordField
            name={`${place.path}.password`}
            value={user.password}
            onChange={(password) => place.onChange({ ...user, password })}
          />
        </>
      )}
    </EntryList>
  );
}

function PasswordField(props: {
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(accessText);
  const { name, value, onChange } = props;
  const error = useFieldError(name);
  if (value === MASK)
    return (
      <Group gap="sm" mb="md">
        <span className="fd-soft">{text.passwordStored}</span>
        <Button size="xs" variant="default" onClick={() => onChange('')}>
          {text.passwordNew}
        </Button>
        {error === undefined ? null : <span className="fd-bad">{error}</span>}
      </Group>
    );
  return (
    <PasswordInput
      label={text.password}
      description={text.passwordHelp}
      error={error}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      autoComplete="new-password"
      mb="md"
    />
  );
}
