/**
 * `frontdoor login`, `logout`, `whoami` and `token`: their options and help. Their implementation is loaded when
 * they run.
 */
import { Command } from 'commander';
import { FrontdoorError } from '#base';
import type { Credentials } from '#domain/agent-shapes';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import { addApiOptions, type ApiFlags } from './api-options.ts';
import type { LoginFlags } from './login.ts';

interface TokenFlags extends ApiFlags {
  readonly scope?: readonly string[];
}

export function accessCommands(io: CliIo): Command[] {
  return [loginCommand(io), logoutCommand(io), whoamiCommand(io), tokenCommand(io)];
}

function loginCommand(io: CliIo): Command {
  const command = new Command('login')
    .description('save the address of a Management API and its credentials as a profile')
    .option(
      '--demo [data-dir]',
      'use the credentials of "frontdoor up --demo" in this data directory, for example /tmp/demo; default: frontdoor-data',
    )
    .option(
      '--frontdoor <id|name>',
      'frontdoor that commands use if there are several (or FRONTDOOR_ID); for example production',
    );
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nOn a terminal, login prompts for missing values. It tries the credentials before it saves them.\n\n' +
        'Examples:\n' +
        '  frontdoor login --demo\n' +
        '  frontdoor login --api https://control.example.com --account ID --token - < token.txt\n' +
        '  frontdoor login --profile staging --client ID --client-secret -\n',
    )
    .action(async (flags: LoginFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const [{ login }, { openTerminalQuestions }] = await Promise.all([
          import('./login.ts'),
          import('./login-questions.ts'),
        ]);
        await login(io, flags, openTerminalQuestions);
      });
    });
}

function logoutCommand(io: CliIo): Command {
  return new Command('logout')
    .description('delete a profile; its account and token stay valid')
    .option(
      '--profile <name>',
      'profile to delete (or FRONTDOOR_PROFILE); for example staging; default: "default"',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  frontdoor logout\n  frontdoor logout --profile staging\n')
    .action(async (flags: ApiFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const { logout } = await import('./login.ts');
        await logout(io, flags);
      });
    });
}

function whoamiCommand(io: CliIo): Command {
  return addApiOptions(
    new Command('whoami').description('show the caller that the credentials belong to, and the API address'),
  )
    .addHelpText(
      'after',
      '\nGET {base_url}/caller, requires the scope frontdoor.read\n\n' +
        'Examples:\n  frontdoor whoami\n  frontdoor whoami --profile staging --json\n',
    )
    .action(async (flags: ApiFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const [{ withManagement }, { fetchCaller }, { recordText }] = await Promise.all([
          import('./access.ts'),
          import('./caller.ts'),
          import('../output/record-text.ts'),
        ]);
        await withManagement(flags, io, async (client, { apiUrl, profileName, frontdoorId }) => {
          const caller = await fetchCaller(client);
          if (flags.json === true) writeJson(io, caller);
          else io.out(recordText({ ...caller, apiUrl, frontdoorId, profile: profileName }));
        });
      });
    });
}

function tokenCommand(io: CliIo): Command {
  const command = new Command('token')
    .description('exchange the credentials for a bearer token, and print it')
    .option(
      '--scope <scope...>',
      'scope of the token, for example frontdoor.read; default: all scopes of the credentials',
    );
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nPOST {auth_url}/oauth/token, requires no token. Credentials of an API account are accepted if its\n' +
        'organization allows that.\n\n' +
        'Examples:\n' +
        '  curl -H "Authorization: Bearer $(frontdoor token)" http://127.0.0.1:8081/caller\n' +
        '  frontdoor token --scope frontdoor.read --json\n',
    )
    .action(async (flags: TokenFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const { withManagement } = await import('./access.ts');
        await withManagement(flags, io, async (client, access) => {
          const token = await client.fetchToken(flags.scope?.join(' ')).catch((error: unknown) => {
            throw withRemedy(error, access.credentials?.kind);
          });
          if (flags.json === true) writeJson(io, token);
          else io.out(`${token.access_token}\n`);
        });
      });
    });
}

/** The token endpoint gives the same response for a wrong secret and for an account that may not exchange its token. */
function withRemedy(error: unknown, kind: Credentials['kind'] | undefined): unknown {
  if (kind !== 'account' || !(error instanceof FrontdoorError) || error.code !== 'invalid_client')
    return error;
  const remedy =
    'an API account gets a bearer token only if its organization allows it: ' +
    '"frontdoor organizations change-settings --token-exchange"';
  return new FrontdoorError(error.kind, error.code, `${error.message}; ${remedy}`, { cause: error });
}
