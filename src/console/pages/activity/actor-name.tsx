/** The author of an event, by name where the person may see the name, else by kind and id. */
import type { ReactNode } from 'react';
import type { AuditEventAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useText } from '../../text/language.tsx';
import { activityText } from './activity-text.ts';

type Actor = AuditEventAnswer['actor'];

export function ActorName({ actor: { kind, id } }: { readonly actor: Actor }): ReactNode {
  const text = useText(activityText);
  const { caller, may } = useSession();
  const isSelf = id === caller.id;
  const asks = (wanted: string) => id !== null && kind === wanted && !isSelf;
  const parameters = { id: id ?? '' };
  // Each name is asked for once, and kept.
  const person = useAnswer('getPerson', { parameters }, { enabled: asks('person') && may('getPerson') });
  const account = useAnswer(
    'getApiAccount',
    { parameters },
    { enabled: asks('account') && may('getApiAccount') },
  );
  const client = useAnswer(
    'getOauthClient',
    { parameters },
    { enabled: asks('client') && may('getOauthClient') },
  );
  const answers = { person, account, client };
  const name = isSelf ? caller.name : answers[kind as keyof typeof answers]?.data?.body.name;
  if (name !== undefined && name !== null) return name;
  return (
    <>
      {text.actorKind(kind)} {id === null ? null : <span className="fd-mono fd-small">{id}</span>}
    </>
  );
}
