/** One destination of notifications: its settings, a test, another secret, and what was sent to it. */
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { NotificationDestinationAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { ActionButton, ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { FlagField } from '../../parts/flag-field.tsx';
import { ListPanel } from '../../parts/list-page.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { ExactTime, TimeAgo } from '../../parts/time-ago.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { EventChoice } from './event-choice.tsx';
import { notificationText } from './notification-text.ts';
import { addressesOf, DestinationState, TargetField } from './notifications-page.tsx';

const KIND = 'notification-destination';
/** The result stands in a line of its own, below all buttons. */
const RESULT_BELOW = { flexBasis: '100%', order: 1 } as const;
const OVERLAP_SECONDS = 86_400;

export function NotificationPage(): ReactNode {
  const text = useText(notificationText);
  const id = useParam('destinationId');
  const answer = useAnswer('getNotificationDestination', { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {(now) => (
        <>
          <PageTitle title={now.body.name} above={<Link to="/settings/notifications">{text.title}</Link>}>
            <Actions destination={now.body} />
          </PageTitle>
          <DestinationFacts destination={now.body} />
          <Panel title={text.settings}>
            <SettingsOfDestination key={id} now={now} reload={reloadOf(answer)} />
          </Panel>
          <Deliveries id={id} />
        </>
      )}
    </AnswerView>
  );
}

function Actions({ destination }: { readonly destination: NotificationDestinationAnswer }): ReactNode {
  const text = useText(notificationText);
  const navigate = useNavigate();
  const { id, name, type } = destination;
  const removeText = type === 'email' ? text.removeMail : text.remove;
  const [secret, setSecret] = useState<string | undefined>();
  return (
    <Group gap="xs">
      <TestButton id={id} type={type} />
      {type === 'webhook' ? (
        <ConfirmedAction
          operation="rotateNotificationSecret"
          input={{ parameters: { id }, body: { overlapSeconds: OVERLAP_SECONDS } }}
          refreshes={[KIND]}
          label={text.rotate}
          title={text.rotate}
          size="sm"
          onDone={({ body }) => setSecret(body.secret)}
        >
          <p>{text.rotateText}</p>
        </ConfirmedAction>
      ) : null}
      <DeleteButton
        operation="deleteNotificationDestination"
        input={{ parameters: { id } }}
        kind={KIND}
        label={removeText}
        title={removeText}
        typed={name}
        onDeleted={() => void navigate({ to: '/settings/notifications' })}
      >
        <p>{text.removeText}</p>
      </DeleteButton>
      <SecretOnceDialog
        title={text.rotated}
        facts={secret === undefined ? undefined : [[text.secret, secret]]}
        onClose={() => setSecret(undefined)}
      />
    </Group>
  );
}

function TestButton(props: Pick<NotificationDestinationAnswer, 'id' | 'type'>): ReactNode {
  const text = useText(notificationText);
  const { id, type } = props;
  const accepted = type === 'email' ? text.testMailDelivered : text.testDelivered;
  const { mutate, data, error, isPending } = useChange('testNotificationDestination');
  const result = data?.body;
  const testSentence = ({ delivered, problem }: NonNullable<typeof result>) =>
    delivered ? accepted : text.testFailed(problem ?? '');
  return (
    <>
      <Button variant="default" loading={isPending} onClick={() => mutate({ parameters: { id } })}>
        {text.test}
      </Button>
      <span role="status" style={RESULT_BELOW}>
        {result === undefined ? null : testSentence(result)}
      </span>
      {error === null ? null : <Problem error={error} />}
    </>
  );
}

function DestinationFacts({
  destination,
}: {
  readonly destination: NotificationDestinationAnswer;
}): ReactNode {
  const text = useText(notificationText);
  const { lastSuccessAt, lastProblem, previousSecretUntil } = destination;
  const facts: (readonly [string, ReactNode])[] = [
    [text.state, <DestinationState key="state" destination={destination} />],
    [text.lastSuccess, <TimeAgo key="success" at={lastSuccessAt} />],
  ];
  if (lastProblem !== null) facts.push([text.lastProblem, lastProblem]);
  if (previousSecretUntil !== undefined)
    facts.push([text.previousUntil, <ExactTime key="until" at={previousSecretUntil} />]);
  return (
    <Panel>
      <Facts facts={facts} />
    </Panel>
  );
}

function SettingsOfDestination({ now, reload }: Editable<NotificationDestinationAnswer>): ReactNode {
  const text = useText(notificationText);
  const draftOf = ({ name, url, addresses = [], enabled, events }: NotificationDestinationAnswer) => ({
    name,
    target: url ?? addresses.join('\n'),
    enabled,
    events,
  });
  const edit = useEdit({ now, reload, draftOf });
  const change = useChange('changeNotificationDestination', { refreshes: [KIND], onDone: edit.saved });
  const { body, etag } = edit.base;
  const { draft } = edit;
  const isMail = body.type === 'email';
  const save = () => {
    const { target, ...rest } = draft;
    const where = isMail ? { addresses: addressesOf(target) } : { url: target };
    change.mutate({ parameters: { id: body.id }, body: { ...rest, ...where }, ifMatch: etag });
  };
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['name', 'url', 'addresses', 'enabled']}
      submit={text.save}
      isDisabled={draft.events.length === 0}
      onSubmit={save}
    >
      <NameField label={text.name} value={draft.name} onChange={(name) => edit.type({ name })} />
      <TargetField isMail={isMail} value={draft.target} onChange={(target) => edit.type({ target })} />
      <EventChoice value={draft.events} onChange={(events) => edit.type({ events: [...events] })} />
      <FlagField
        name="enabled"
        label={isMail ? text.mailEnabled : text.enabled}
        value={draft.enabled}
        onChange={(enabled) => edit.type({ enabled })}
      />
    </EditForm>
  );
}

function Deliveries({ id }: { readonly id: string }): ReactNode {
  const text = useText(notificationText);
  return (
    <ListPanel
      title={text.deliveries}
      list={useList('listNotificationDeliveries', { parameters: { id } })}
      columns={[
        { title: text.at, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
        { title: text.event, cell: ({ type }) => text.eventName(type) },
        { title: text.state, cell: ({ state }) => text.stateName(state) },
        { title: text.attempts, cell: ({ attempts }) => String(attempts) },
        { title: text.next, cell: ({ nextAttemptAt }) => <TimeAgo at={nextAttemptAt} /> },
        { title: text.problem, cell: ({ problem }) => problem },
        {
          title: text.retry,
          cell: ({ id: deliveryId, state, type }) =>
            state === 'FAILED' ? <RetryButton id={id} deliveryId={deliveryId} type={type} /> : null,
        },
      ]}
      keyOf={(delivery) => delivery.id}
      empty={<p>{text.noDeliveries}</p>}
    />
  );
}

function RetryButton(props: {
  readonly id: string;
  readonly deliveryId: string;
  readonly type: string;
}): ReactNode {
  const text = useText(notificationText);
  const { id, deliveryId, type } = props;
  const { mutate, isPending } = useChange('retryNotificationDelivery', {
    refreshes: ['notification-delivery'],
  });
  return (
    <ActionButton
      label={text.retry}
      full={`${text.retry}: ${text.eventName(type)}`}
      isPending={isPending}
      onClick={() => mutate({ parameters: { id, deliveryId } })}
    />
  );
}
