/** The console's half at the control plane: log-in, invitations, sessions and their pages. */
import type { Log } from '#base';
import type { ConsoleApp } from './app/console-app.ts';
import type { LoginParts } from '../shares/logins/mod.ts';
import type { OpenConsole } from '../shares/operations/mod.ts';
import { signInLook } from '../credentials/people/mod.ts';
import { ConsoleLogIn } from './console-log-in.ts';
import { addConsoleRoutes } from './console-routes.ts';
import { foreignOrigin, isFromOwnPage, ownOriginOf, type OwnAddress } from './console-origin.ts';
import { ProviderLogIn } from './provider-log-in.ts';
import { ConsoleSessions, type ConsoleParts } from './console-sessions.ts';
import { PasswordChange } from './password-change.ts';
import { SignInTest } from './sign-in-test.ts';
import { SecondFactorLogIn } from './second-factor-log-in.ts';

export interface ConsoleOptions extends ConsoleParts {
  /** Without it, people log in by password only. */
  readonly login?: Pick<LoginParts, 'providers' | 'steps' | 'tests'> | undefined;
  readonly own: () => OwnAddress;
  readonly app: ConsoleApp;
  readonly log: Log;
}

/** A page of another site cannot set it without asking first, which the API does not permit. */
const PAGE_HEADER = 'frontdoor-console';

/** Returns what opens the console on a Management API. */
export function consoleOf(options: ConsoleOptions): OpenConsole {
  return ({ access, failures, refusals, issuers }) => {
    const { own, app: program, log, login, clock } = options;
    const rule = () => ({
      scopesOfIssuer: (id: string) => issuers?.scopesOf(id),
      nowMs: clock.nowMs(),
    });
    const sessions = new ConsoleSessions(options);
    const secondFactor = new SecondFactorLogIn({ ...options, sessions, refusals });
    const logIn = new ConsoleLogIn({ ...options, access, failures, sessions, secondFactor, refusals, rule });
    const passwordChange = new PasswordChange({ ...options, logIn, sessions, secondFactor, refusals, rule });
    const providerLogIn =
      login && new ProviderLogIn({ ...options, ...login, sessions, refusals, failures, rule });
    return {
      isOwnHost: (request) => ownOriginOf(request, own()) !== undefined,
      checkOrigin: (request, isChange) => {
        const origin = ownOriginOf(request, own());
        const isOwn = origin !== undefined && isFromOwnPage(request, origin);
        const hasHeader = !isChange || request.headers[PAGE_HEADER] !== undefined;
        if (!isOwn || !hasHeader) throw foreignOrigin(request, origin);
      },
      build: () => program.current?.key,
      principalOf: (request, isUse) => sessions.principalOf(request, isUse),
      addRoutes: (app, context) =>
        addConsoleRoutes(
          app,
          {
            sessions,
            logIn,
            secondFactor,
            passwordChange,
            providerLogIn,
            signInTest: login && new SignInTest({ ...options, tests: login.tests, failures }),
            app: program,
            own,
            lookOf: (organizationId) => signInLook(options.store.db, organizationId),
            log,
          },
          context,
        ),
    };
  };
}
