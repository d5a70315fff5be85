/** Adding an agent: a code, the command for its machine, and a line that shows when it is there. */
import { NativeSelect, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { allowTargetsOf, wrongTarget, type AllowedChoice } from './agent-command.ts';
import { agentsText } from './agents-text.ts';
import { StartAgent, type CreatedCode } from './start-agent.tsx';

const SECOND_MS = 1_000;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const LIFETIMES_SECONDS = [900, HOUR_SECONDS, DAY_SECONDS, 7 * DAY_SECONDS] as const;
const CHOICES: readonly AllowedChoice[] = ['machine', 'other', 'none'];

export function NewAgentPage(): ReactNode {
  const text = useText(agentsText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const [created, setCreated] = useState<CreatedCode | undefined>();
  return (
    <>
      <PageTitle
        title={text.add}
        above={
          <Link to="/frontdoors/$frontdoorId/agents" params={{ frontdoorId }}>
            {text.agents}
          </Link>
        }
      />
      {created !== undefined ? (
        <StartAgent created={created} onAnother={() => setCreated(undefined)} />
      ) : (
        <Panel>
          {may('createEnrollment') ? <CodeForm onCreated={setCreated} /> : <p>{text.askToAdd}</p>}
        </Panel>
      )}
    </>
  );
}

function CodeForm({ onCreated }: { readonly onCreated: (created: CreatedCode) => void }): ReactNode {
  const [text, format] = [useText(agentsText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const [name, setName] = useState('');
  const [lifetimeSeconds, setLifetime] = useState<number>(HOUR_SECONDS);
  const [choice, setChoice] = useState<AllowedChoice>('machine');
  const [networks, setNetworks] = useState('');
  const [isChecked, setChecked] = useState(false);
  const idempotencyKey = useIdempotencyKey();
  const allowTargets = allowTargetsOf(choice, networks);
  const wrong =
    choice === 'other' ? (allowTargets.length === 0 ? networks : wrongTarget(allowTargets)) : undefined;
  const create = useChange('createEnrollment', {
    refreshes: ['enrollment'],
    onDone: ({ body }) =>
      onCreated({ code: body.enrollmentCode, expiresAt: body.expiresAt, name: name.trim(), allowTargets }),
  });
  const submit = () => {
    setChecked(true);
    if (wrong !== undefined) return;
    const given = name.trim() === '' ? {} : { name };
    create.mutate({ parameters: { frontdoorId }, body: { ...given, lifetimeSeconds }, idempotencyKey });
  };
  return (
    <Form
      fields={['name', 'lifetimeSeconds']}
      error={create.error}
      isPending={create.isPending}
      submit={text.createCode}
      onSubmit={submit}
    >
      <p className="fd-soft">{text.addText}</p>
      <div className="fd-fields">
        <NameField
          label={text.name}
          description={text.nameHint}
          isRequired={false}
          mb={0}
          value={name}
          onChange={setName}
        />
        <NativeSelect
          label={text.lifetime}
          value={String(lifetimeSeconds)}
          onChange={({ currentTarget }) => setLifetime(Number(currentTarget.value))}
          data={LIFETIMES_SECONDS.map((seconds) => ({
            value: String(seconds),
            label: format.duration(seconds * SECOND_MS),
          }))}
        />
        <NativeSelect
          label={text.allowed}
          description={text.allowedHint}
          value={choice}
          onChange={({ currentTarget }) => setChoice(currentTarget.value as AllowedChoice)}
          data={CHOICES.map((value) => ({
            value,
            label: { machine: text.allowedMachine, other: text.allowedOther, none: text.allowedNone }[value],
          }))}
        />
        {choice === 'other' ? (
          <TextInput
            required
            label={text.allowedNetworks}
            description={text.allowedNetworksHint}
            value={networks}
            spellCheck={false}
            autoComplete="off"
            error={isChecked && wrong !== undefined ? text.allowedWrong(wrong) : undefined}
            onChange={({ currentTarget }) => setNetworks(currentTarget.value)}
          />
        ) : null}
      </div>
    </Form>
  );
}
