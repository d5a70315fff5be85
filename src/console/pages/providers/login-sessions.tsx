/** People who are logged in with an auth provider. Their sessions are ended one by one, of one person, or all. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { LoginSessionAnswer, ProviderAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { providersText } from './providers-text.ts';

export function LoginSessions({ provider }: { readonly provider: ProviderAnswer }): ReactNode {
  const text = useText(providersText);
  if (provider.type !== 'API_KEY') return <SessionList id={provider.id} />;
  return (
    <Panel title={text.sessions}>
      <p className="fd-soft">{text.sessionsOfKeys}</p>
    </Panel>
  );
}

function SessionList({ id }: { readonly id: string }): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const { may } = useSession();
  const email = control.textOf('text').trim();
  const answer = useAnswer('listLoginSessions', {
    parameters: { frontdoorId, id },
    query: { email, page: control.textOf('page'), size: PAGE_SIZE },
  });
  const end = useChange('endLoginSession', { refreshes: ['session'] });
  const mayEnd = may('endLoginSession');
  const count = answer.data?.body.totalElements ?? 0;
  return (
    <Panel
      title={text.sessions}
      actions={mayEnd && count > 0 ? <EndAll key={email} id={id} email={email} /> : null}
    >
      {end.error === null ? null : <Problem error={end.error} />}
      <Filters control={control}>
        <TextFilter control={control} name="text" label={text.email} placeholder={text.emailWhole} />
      </Filters>
      <AnswerView answer={answer}>
        {({ body }) => (
          <ListTable<LoginSessionAnswer>
            label={text.sessions}
            page={body}
            control={control}
            keyOf={(session) => session.id}
            empty={<p className="fd-soft">{text.sessionsEmpty}</p>}
            columns={[
              {
                title: text.person,
                cell: (session) => (
                  <>
                    {personOf(session)}
                    {session.name === null ? null : <div className="fd-soft fd-small">{session.name}</div>}
                  </>
                ),
              },
              {
                title: text.share,
                cell: ({ shareToken, host }) => (
                  <Link
                    to="/frontdoors/$frontdoorId/shares/$token/access"
                    params={{ frontdoorId, token: shareToken }}
                  >
                    {host}
                  </Link>
                ),
              },
              { title: text.since, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
              { title: text.lastSeen, cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
              { title: text.ends, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
              ...(mayEnd
                ? [
                    {
                      title: text.end,
                      cell: (session: LoginSessionAnswer) => (
                        <Button
                          size="xs"
                          variant="default"
                          aria-label={text.endOf(personOf(session))}
                          loading={end.isPending && end.variables.parameters.sessionId === session.id}
                          onClick={() =>
                            end.mutate({ parameters: { frontdoorId, id, sessionId: session.id } })
                          }
                        >
                          {text.end}
                        </Button>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </AnswerView>
    </Panel>
  );
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
