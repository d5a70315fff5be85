/** People who are logged in with an auth provider. Their sessions are ended one by one, of one person, or all. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { LoginSessionAnswer, ProviderAnswer } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ListPanel } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { providersText } from './providers-text.ts';
import { hasKeys } from './type-facts.ts';

/** No event reports the sign-in of a visitor. */
const REFETCH_MS = 30_000;

export function LoginSessions({ provider }: { readonly provider: ProviderAnswer }): ReactNode {
  const text = useText(providersText);
  if (!hasKeys(provider.type)) return <SessionList id={provider.id} />;
  return (
    <Panel title={text.sessions}>
      <p className="fd-soft">{text.sessionsOfKeys}</p>
    </Panel>
  );
}

function SessionList({ id }: { readonly id: string }): ReactNode {
  const text = useText(providersText);
  const parameters = { frontdoorId: useFrontdoorId(), id };
  const { may } = useSession();
  const filters = [{ name: 'email', label: text.email, placeholder: text.emailWhole, by: 'text' }] as const;
  const list = useList('listLoginSessions', { parameters }, { filters, refetchMs: REFETCH_MS });
  const end = useChange('endLoginSession', { refreshes: ['session'] });
  const count = list.answer.data?.body.totalElements ?? 0;
  const email = list.control.textOf('email').trim();
  const endColumn: ListColumn<LoginSessionAnswer> = {
    id: 'end',
    title: text.end,
    width: 7,
    cell: (session) => (
      <ActionButton
        label={text.end}
        full={text.endOf(personOf(session))}
        isPending={end.isPending && end.variables.parameters.sessionId === session.id}
        onClick={() => end.mutate({ parameters: { ...parameters, sessionId: session.id } })}
      />
    ),
  };
  const columns = useColumns();
  return (
    <ListPanel
      title={text.sessions}
      actions={may('endLoginSession') && count > 0 ? <EndAll key={email} id={id} email={email} /> : null}
      intro={end.error === null ? null : <Problem error={end.error} />}
      list={list}
      columns={may('endLoginSession') ? [...columns, endColumn] : columns}
      keyOf={(session) => session.id}
      empty={<p className="fd-soft">{text.sessionsEmpty}</p>}
    />
  );
}

function useColumns(): readonly ListColumn<LoginSessionAnswer>[] {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  return [
    {
      id: 'person',
      title: text.person,
      isName: true,
      cell: (session) => (
        <>
          {personOf(session)}
          {session.name === null ? null : <span className="fd-soft"> {session.name}</span>}
        </>
      ),
    },
    {
      id: 'share',
      title: text.share,
      cell: ({ shareToken, host }) => (
        <Link to="/frontdoors/$frontdoorId/shares/$token/access" params={{ frontdoorId, token: shareToken }}>
          {host}
        </Link>
      ),
    },
    { id: 'since', title: text.since, width: 8, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
    { id: 'lastSeen', title: text.lastSeen, width: 8, cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
    { id: 'ends', title: text.ends, width: 8, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
  ];
}

function personOf({ email, subject }: LoginSessionAnswer): string {
  return email ?? subject;
}

/** Ends the sessions of one person if the list is about one, otherwise of all. */
function EndAll({ id, email }: { readonly id: string; readonly email: string }): ReactNode {
  const [text, format] = [useText(providersText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const [isAsking, setAsking] = useState(false);
  const end = useChange('endLoginSessions', {
    refreshes: ['session'],
    onDone: () => setAsking(false),
  });
  const title = email === '' ? text.endAll : text.endAllOf(email);
  const ended = end.data?.body.ended;
  return (
    <>
      {ended === undefined ? null : <span role="status">{text.ended(ended, format.number(ended))}</span>}
      <Button size="xs" color="red" variant="outline" onClick={() => setAsking(true)}>
        {title}
      </Button>
      <ConfirmDialog
        title={title}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={title}
        isPending={end.isPending}
        error={end.error}
        onConfirm={() =>
          end.mutate({ parameters: { frontdoorId, id }, query: email === '' ? { all: 'true' } : { email } })
        }
      >
        <p>{email === '' ? text.endAllText : text.endAllOfText(email)}</p>
        <p>{text.endStillAdmitted}</p>
      </ConfirmDialog>
    </>
  );
}
