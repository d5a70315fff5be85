/** The collector that receives all events of the installation: its settings, how far it is behind, and a test. */
import { Button, Group, PasswordInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { FlagField } from '../../parts/flag-field.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { eventExportText } from './event-export-text.ts';

type EventExport = AnswerOf<'getEventExport'>;

const KIND = 'event-export';
/** The result stands in a line of its own, below all buttons. */
const RESULT_BELOW = { flexBasis: '100%', order: 1 } as const;

export function EventExportPage(): ReactNode {
  const text = useText(eventExportText);
  const answer = useAnswer('getEventExport', {});
  return (
    <AnswerView answer={answer}>
      {(now) => (
        <>
          <PageTitle title={text.title}>{now.body.url === null ? null : <Actions />}</PageTitle>
          <p>{text.intro}</p>
          <State now={now.body} />
          <Panel title={text.settings}>
            <Settings now={now} reload={reloadOf(answer)} />
          </Panel>
        </>
      )}
    </AnswerView>
  );
}

function State({ now }: { readonly now: EventExport }): ReactNode {
  const text = useText(eventExportText);
  const { url, enabled, failures, lastDeliveredAt, lastProblem, delivered, waiting, oldestWaitingAt } = now;
  const working = lastDeliveredAt === null ? text.unused : text.working;
  const state = failures > 0 ? text.failing : working;
  const shown = url === null ? text.notSet : enabled ? state : text.disabled;
  const facts: (readonly [string, ReactNode])[] = [[text.state, shown]];
  if (url !== null)
    facts.push(
      [text.delivered, String(delivered)],
      [text.lastDelivered, <TimeAgo key="delivered" at={lastDeliveredAt} />],
      [text.waiting, String(waiting)],
      [text.oldest, <TimeAgo key="oldest" at={oldestWaitingAt} />],
    );
  if (lastProblem !== null) facts.push([text.lastProblem, lastProblem]);
  return (
    <Panel>
      <Facts facts={facts} />
    </Panel>
  );
}

function Actions(): ReactNode {
  const text = useText(eventExportText);
  const { mutate, data, error, isPending } = useChange('testEventExport');
  const result = data?.body;
  const testSentence = ({ delivered, problem }: NonNullable<typeof result>) =>
    delivered ? text.testDelivered : text.testFailed(problem ?? '');
  return (
    <Group gap="xs">
      <Button variant="default" loading={isPending} onClick={() => mutate({})}>
        {text.test}
      </Button>
      <ConfirmedAction
        operation="deleteEventExport"
        input={{}}
        refreshes={[KIND]}
        label={text.remove}
        title={text.remove}
        size="sm"
      >
        <p>{text.removeText}</p>
      </ConfirmedAction>
      <span role="status" style={RESULT_BELOW}>
        {result === undefined ? null : testSentence(result)}
      </span>
      {error === null ? null : <Problem error={error} />}
    </Group>
  );
}

function Settings({ now, reload }: Editable<EventExport>): ReactNode {
  const text = useText(eventExportText);
  const draftOf = ({ url, header, gzip, enabled }: EventExport) => ({
    url: url ?? '',
    header,
    secret: '',
    gzip,
    enabled: url === null || enabled,
    isFromBeginning: false,
  });
  const edit = useEdit({ now, reload, draftOf });
  const change = useChange('setEventExport', { refreshes: [KIND], onDone: edit.saved });
  const { body: before, etag } = edit.base;
  const { draft } = edit;
  const isSyslog = draft.url.startsWith('t');
  const save = () => {
    const { url, enabled, isFromBeginning, header, secret, gzip } = draft;
    const ofHttp = { header, gzip, ...(secret === '' ? {} : { secret }) };
    const from = isFromBeginning ? ({ from: 'beginning' } as const) : {};
    change.mutate({ body: { url, enabled, ...(isSyslog ? {} : ofHttp), ...from }, ifMatch: etag });
  };
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['url', 'header', 'secret', 'gzip', 'enabled']}
      submit={text.save}
      onSubmit={save}
    >
      <TextField
        name="url"
        label={text.url}
        description={text.urlText}
        value={draft.url}
        onChange={(url) => edit.type({ url })}
        isRequired
      />
      {isSyslog ? null : (
        <>
          <SecretInput
            isStored={before.hasSecret}
            value={draft.secret}
            onChange={(secret) => edit.type({ secret })}
          />
          <TextField
            name="header"
            label={text.header}
            value={draft.header}
            onChange={(header) => edit.type({ header })}
            isRequired
          />
          <FlagField
            name="gzip"
            label={text.gzip}
            value={draft.gzip}
            onChange={(gzip) => edit.type({ gzip })}
          />
        </>
      )}
      {before.url === null ? (
        <FlagField
          name="from"
          label={text.beginning}
          value={draft.isFromBeginning}
          onChange={(isFromBeginning) => edit.type({ isFromBeginning })}
        />
      ) : null}
      <FlagField
        name="enabled"
        label={text.enabled}
        value={draft.enabled}
        onChange={(enabled) => edit.type({ enabled })}
      />
    </EditForm>
  );
}

function SecretInput(props: {
  readonly isStored: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(eventExportText);
  const { isStored, value, onChange } = props;
  return (
    <PasswordInput
      label={text.secret}
      description={isStored ? text.secretKept : text.secretText}
      error={useFieldError('secret')}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      autoComplete="off"
      visibilityToggleButtonProps={{ 'aria-label': text.showSecret }}
      mb="md"
    />
  );
}
