/** The destinations of notifications of an organization, and the creation of one, whose secret is shown once. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { NotificationDestinationAnswer } from '#contract/schemas';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { Form } from '../../parts/form.tsx';
import { EmptyList, ListPage } from '../../parts/list-page.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { EventChoice, FIRST_EVENTS } from './event-choice.tsx';
import { notificationText } from './notification-text.ts';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';

interface Created {
  readonly name: string;
  readonly secret: string;
}

export function NotificationsPage(): ReactNode {
  const text = useText(notificationText);
  const organizationId = useOrganizationId();
  const [isAdding, setAdding] = useState(false);
  const [shown, setShown] = useState<Created | undefined>();
  const add = <Button onClick={() => setAdding(true)}>{text.add}</Button>;
  return (
    <ListPage
      title={text.title}
      actions={add}
      intro={
        <>
          <OtherOrganization />
          <p>{text.intro}</p>
        </>
      }
      list={useList(
        'listNotificationDestinations',
        { query: { organizationId } },
        { filters: [useNameFilter()] },
      )}
      columns={[
        {
          title: text.name,
          sort: 'name',
          cell: ({ id, name }) => <Link to={`/settings/notifications/${id}`}>{name}</Link>,
        },
        { title: text.url, cell: ({ url }) => <span className="fd-mono">{new URL(url).host}</span> },
        { title: text.state, cell: (destination) => <DestinationState destination={destination} /> },
        { title: text.lastSuccess, cell: ({ lastSuccessAt }) => <TimeAgo at={lastSuccessAt} /> },
      ]}
      keyOf={({ id }) => id}
      empty={
        <EmptyList title={text.none} text={text.noneText}>
          {null}
        </EmptyList>
      }
    >
      {isAdding ? (
        <AddDestination
          organizationId={organizationId}
          onClose={() => setAdding(false)}
          onCreated={(made) => {
            setAdding(false);
            setShown(made);
          }}
        />
      ) : null}
      <SecretOnceDialog
        title={text.created}
        facts={
          shown && [
            [text.name, shown.name],
            [text.secret, shown.secret],
          ]
        }
        onClose={() => setShown(undefined)}
      >
        <p>{text.secretText}</p>
      </SecretOnceDialog>
    </ListPage>
  );
}

export function DestinationState({
  destination: { enabled, failures, lastSuccessAt, lastProblem },
}: {
  readonly destination: NotificationDestinationAnswer;
}): ReactNode {
  const text = useText(notificationText);
  if (!enabled) return text.disabled;
  if (failures > 0) return <span title={lastProblem ?? ''}>{text.failing}</span>;
  return lastSuccessAt === null ? text.unused : text.working;
}

function AddDestination(props: {
  readonly organizationId: string;
  readonly onClose: () => void;
  readonly onCreated: (made: Created) => void;
}): ReactNode {
  const text = useText(notificationText);
  const { organizationId, onClose, onCreated } = props;
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState(FIRST_EVENTS);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createNotificationDestination', {
    refreshes: ['notification-destination'],
    onDone: ({ body }) => onCreated(body),
  });
  return (
    <Dialog title={text.add} isOpen onClose={onClose}>
      <Form
        fields={['name', 'url']}
        error={error}
        isPending={isPending}
        isDisabled={events.length === 0}
        submit={text.add}
        onCancel={onClose}
        onSubmit={() => mutate({ body: { name, url, events: [...events], organizationId }, idempotencyKey })}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
        <TextField
          name="url"
          label={text.url}
          description={text.urlText}
          value={url}
          onChange={setUrl}
          isRequired
        />
        <EventChoice value={events} onChange={setEvents} />
      </Form>
    </Dialog>
  );
}
