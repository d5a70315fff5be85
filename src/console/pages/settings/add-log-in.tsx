/** Lets people log in at the console with an auth provider of one of the organization's frontdoors. */
import { Button, Fieldset, Group, NativeSelect, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { RoleChoice, type RoleName } from './role-choice.tsx';
import { hasKeys } from '../providers/type-facts.ts';
import { settingsText } from './settings-text.ts';

const MAX_SHOWN = 100;

interface Rule {
  readonly who: string;
  readonly role: RoleName;
}

/** An address, or `*@` and a domain, is an e-mail rule; anything else is a group. */
function ruleBody({ who, role }: Rule) {
  return who.includes('@') ? { email: who, role } : { group: who, role };
}

export function AddLogIn(props: {
  readonly organizationId: string;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(settingsText);
  const { organizationId, onClose } = props;
  const [authProviderId, setProviderId] = useState('');
  const [rules, setRules] = useState<readonly Rule[]>([]);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createConsoleLogIn', {
    refreshes: ['console-log-in'],
    onDone: onClose,
  });
  const roles = rules.filter(({ who }) => who !== '').map(ruleBody);
  return (
    <Dialog title={text.addLogIn} isOpen onClose={onClose}>
      <Form
        fields={[]}
        error={error}
        isPending={isPending}
        isDisabled={authProviderId === ''}
        submit={text.addLogIn}
        onCancel={onClose}
        onSubmit={() => mutate({ body: { organizationId, authProviderId, roles }, idempotencyKey })}
      >
        <ProviderOfFrontdoor
          organizationId={organizationId}
          value={authProviderId}
          onChange={setProviderId}
        />
        <RoleRules rules={rules} onChange={setRules} />
      </Form>
    </Dialog>
  );
}

/** Chooses a frontdoor of the organization, and then one of its auth providers. */
function ProviderOfFrontdoor(props: {
  readonly organizationId: string;
  readonly value: string;
  readonly onChange: (id: string) => void;
}): ReactNode {
  const text = useText(settingsText);
  const { organizationId, value, onChange } = props;
  const [frontdoorId, setFrontdoorId] = useState('');
  const frontdoors = useAnswer('listFrontdoors', {
    parameters: { organizationId },
    query: { size: MAX_SHOWN },
  });
  return (
    <AnswerView answer={frontdoors}>
      {({ body: { content } }) => {
        const chosen = frontdoorId === '' ? (content[0]?.id ?? '') : frontdoorId;
        return (
          <>
            <NativeSelect
              label={text.frontdoors}
              value={chosen}
              onChange={({ currentTarget }) => {
                setFrontdoorId(currentTarget.value);
                onChange('');
              }}
              data={content.map(({ id, name }) => ({ value: id, label: name }))}
            />
            {chosen === '' ? null : <ProviderChoice frontdoorId={chosen} value={value} onChange={onChange} />}
          </>
        );
      }}
    </AnswerView>
  );
}

/** Which groups and addresses get which role. */
function RoleRules(props: {
  readonly rules: readonly Rule[];
  readonly onChange: (rules: readonly Rule[]) => void;
}): ReactNode {
  const text = useText(settingsText);
  const { rules, onChange } = props;
  const change = (at: number, rule: Rule) => onChange(rules.map((old, index) => (index === at ? rule : old)));
  return (
    <Fieldset legend={text.roleRules} mt="md">
      {rules.length === 0 ? <p>{text.noRules}</p> : null}
      {rules.map((rule, at) => (
        // Rules have no other name than their place.
        <Group key={at} align="start" mb="sm">
          <TextInput
            label={text.group}
            value={rule.who}
            onChange={({ currentTarget }) => change(at, { ...rule, who: currentTarget.value })}
          />
          <RoleChoice
            label={text.role}
            value={rule.role}
            onChange={(role) => change(at, { ...rule, role })}
          />
          <Button
            mt="xl"
            variant="default"
            onClick={() => onChange(rules.filter((_rule, index) => index !== at))}
          >
            {text.removeRule}
          </Button>
        </Group>
      ))}
      <Button variant="default" onClick={() => onChange([...rules, { who: '', role: 'reader' }])}>
        {text.addRule}
      </Button>
    </Fieldset>
  );
}

function ProviderChoice(props: {
  readonly frontdoorId: string;
  readonly value: string;
  readonly onChange: (id: string) => void;
}): ReactNode {
  const text = useText(settingsText);
  const providers = useAnswer('listAuthProviders', {
    parameters: { frontdoorId: props.frontdoorId },
    query: { size: MAX_SHOWN },
  });
  return (
    <AnswerView answer={providers}>
      {({ body }) => {
        const offered = body.content.filter(({ type }) => !hasKeys(type));
        if (offered.length === 0) return <p>{text.noProviders}</p>;
        return (
          <NativeSelect
            mt="sm"
            label={text.provider}
            value={props.value}
            onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
            data={[{ value: '', label: '—' }, ...offered.map(({ id, name }) => ({ value: id, label: name }))]}
          />
        );
      }}
    </AnswerView>
  );
}
