/** The destinations of notifications of an organization, and the creation of one, whose secret is shown once. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { NotificationDestinationAnswer } from '#contract/schemas';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { Form } from '../../parts/form.tsx';
import { EmptyList, ListPage } from '../../parts/list-page.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { EventChoice, FIRST_EVENTS } from './event-choice.tsx';
import { notificationText } from './notification-text.ts';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';

type DestinationType = NotificationDestinationAnswer['type'];

interface Created {
  readonly name: string;
  readonly secret: string;
}

export function NotificationsPage(): ReactNode {
  const text = useText(notificationText);
  const organizationId = useOrganizationId();
  const [adding, setAdding] = useState<DestinationType | undefined>();
  const [shown, setShown] = useState<Created | undefined>();
  const { data: installation } = useAnswer('getInstallation', {});
  const hasMail = installation?.body.mail;
  const add = (
    <>
      {hasMail === true ? (
        <Button variant="default" onClick={() => setAdding('email')}>
          {text.addMail}
        </Button>
      ) : null}
      <Button onClick={() => setAdding('webhook')}>{text.add}</Button>
    </>
  );
  return (
    <ListPage
      title={text.title}
      actions={add}
      intro={
        <>
          <OtherOrganization />
          <p>{text.intro}</p>
          {hasMail === false ? <p>{text.noMail}</p> : null}
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
        {
          title: text.receivers,
          cell: (destination) => <span className="fd-mono">{receiversOf(destination)}</span>,
        },
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
      {adding === undefined ? null : (
        <AddDestination
          type={adding}
          organizationId={organizationId}
          onClose={() => setAdding(undefined)}
          onCreated={(made) => {
            setAdding(undefined);
            setShown(made);
          }}
        />
      )}
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

/** The host of a webhook, or the addresses of people. */
function receiversOf({ url, addresses = [] }: NotificationDestinationAnswer): string {
  return url === undefined ? addresses.join(', ') : new URL(url).host;
}

/** One address per line. */
export function addressesOf(lines: string): string[] {
  return lines.split(/[\s,;]+/).filter((line) => line !== '');
}

function AddDestination(props: {
  readonly type: DestinationType;
  readonly organizationId: string;
  readonly onClose: () => void;
  /** Undefined for a type without a secret. */
  readonly onCreated: (made: Created | undefined) => void;
}): ReactNode {
  const text = useText(notificationText);
  const { type, organizationId, onClose, onCreated } = props;
  const isMail = type === 'email';
  const title = isMail ? text.addMail : text.add;
  const [name, setName] = useState('');
  const [target, setTarget] = useState('');
  const [events, setEvents] = useState(FIRST_EVENTS);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createNotificationDestination', {
    refreshes: ['notification-destination'],
    onDone: ({ body: { name: made, secret } }) =>
      onCreated(secret === undefined ? undefined : { name: made, secret }),
  });
  const where = isMail ? { type, addresses: addressesOf(target) } : { url: target };
  const body = { name, ...where, events: [...events], organizationId };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <Form
        fields={['name', 'url', 'addresses']}
        error={error}
        isPending={isPending}
        isDisabled={events.length === 0}
        submit={title}
        onCancel={onClose}
        onSubmit={() => mutate({ body, idempotencyKey })}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
        <TargetField isMail={isMail} value={target} onChange={setTarget} />
        <EventChoice value={events} onChange={setEvents} />
      </Form>
    </Dialog>
  );
}

/** The URL of a webhook, or the addresses of people, one per line. */
export function TargetField(props: {
  readonly isMail: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(notificationText);
  const { isMail, value, onChange } = props;
  const own = isMail
    ? { name: 'addresses', label: text.addresses, description: text.addressesText }
    : { name: 'url', label: text.url, description: text.urlText };
  const field = { ...own, value, onChange };
  return isMail ? <LinesField {...field} /> : <TextField {...field} isRequired />;
}
