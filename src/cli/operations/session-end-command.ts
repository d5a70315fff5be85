/** `frontdoor auth-providers sessions end ID`: ends one session, the sessions of one person, or all sessions. */
import { Command } from 'commander';
import { FrontdoorError } from '#base';
import { printable } from '#base/terminal';
import type { EndedSessionsAnswer } from '#contract/schemas';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';

interface Flags extends ApiFlags {
  readonly frontdoor?: string;
  readonly email?: string;
  readonly subject?: string;
  readonly all?: boolean;
}

const SESSIONS = '/frontdoor/{frontdoorId}/auth-providers/{id}/sessions';
const ID = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';
const HELP = `
DELETE {base_url}${SESSIONS}
DELETE {base_url}${SESSIONS}/{sessionId}, requires the scope frontdoor.write

People whose account still exists at the identity provider may sign in again: close the account there first.

Examples:
  frontdoor auth-providers sessions end staff --email ann@example.com
  frontdoor auth-providers sessions end ${ID} 5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11
  frontdoor auth-providers sessions end staff --all
`;

export function sessionEndCommand(io: CliIo): Command {
  const command = new Command('end')
    .argument('<id|name>', 'id or name of the auth provider')
    .argument('[session-id]', 'id of one session, as "auth-providers sessions list" shows it')
    .description('end sessions of people who signed in, at every gateway within seconds')
    .option(
      '--email <email>',
      'end all sessions of the person with this email address; for example ann@example.com',
    )
    .option(
      '--subject <subject>',
      'end all sessions of the person with this subject at the provider; for example 248289761001',
    )
    .option('--all', 'those of everyone')
    .addOption(frontdoorOption());
  addApiOptions(command).addHelpText('after', HELP);
  return command.action(async (id: string, sessionId: string | undefined) => {
    const flags = command.opts<Flags>();
    await runCommand(io, flags.json === true, () => end(io, flags, id, sessionId));
  });
}

async function end(io: CliIo, flags: Flags, id: string, sessionId: string | undefined): Promise<void> {
  const tail = tailOf(flags, sessionId);
  const [{ withManagement }, { frontdoorOf, namedId }, { namedByField }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
    import('./named-thing-table.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const look = { client, access };
    const providerId = await namedId(look, namedByField('providerId')!, id);
    const path = SESSIONS.replace('{frontdoorId}', await frontdoorOf(look)).replace(
      '{id}',
      encodeURIComponent(providerId),
    );
    const answer = (await client.call({ method: 'DELETE', path: path + tail })) as
      | EndedSessionsAnswer
      | undefined;
    if (flags.json === true) {
      if (answer !== undefined) writeJson(io, answer);
    } else if (answer === undefined) io.out(`ended ${printable(sessionId!)}\n`);
    else io.out(`ended ${answer.ended} ${answer.ended === 1 ? 'session' : 'sessions'}\n`);
  });
}

/** Returns the rest of the path and the query. Only sessions that the user named end. */
function tailOf({ email, subject, all }: Flags, sessionId: string | undefined): string {
  const isPerson = email !== undefined || subject !== undefined;
  const named = [sessionId !== undefined, isPerson, all === true].filter(Boolean).length;
  if (named !== 1) {
    const message = 'choose the sessions to end with exactly one of SESSION-ID, --email, --subject and --all';
    throw new FrontdoorError('invalid', 'arguments', message);
  }
  if (sessionId === '') throw new FrontdoorError('invalid', 'argument', 'session-id is empty');
  if (sessionId !== undefined) return `/${encodeURIComponent(sessionId)}`;
  const query = new URLSearchParams();
  if (email !== undefined) query.set('email', email);
  if (subject !== undefined) query.set('subject', subject);
  if (all === true) query.set('all', 'true');
  return `?${query.toString()}`;
}
