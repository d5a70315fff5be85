/** The steps at an identity provider before the form can be filled in, with the addresses to register there. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AnsweredCall } from '../../api/call.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { useText } from '../../text/language.tsx';
import { providersText } from './providers-text.ts';
import type { SetupTexts } from './type-facts.ts';

export function ProviderSetup(props: {
  readonly steps: SetupTexts;
  readonly reservation: UseQueryResult<AnsweredCall<'reserveAuthProvider'>>;
  readonly isPermitted: boolean;
}): ReactNode {
  const text = useText(providersText);
  const { steps, reservation, isPermitted } = props;
  if (steps.redirects === undefined) return null;
  return (
    <section aria-label={text.setup}>
      <h3>{text.setup}</h3>
      <ol className="fd-guide">
        {steps.first.map((step) => (
          <li key={step}>{step}</li>
        ))}
        <li>
          {steps.redirects}
          {isPermitted ? (
            <AnswerView answer={reservation}>
              {({ body: { callbackUrls, consoleCallbackUrl } }) => (
                <Addresses callbackUrls={callbackUrls} consoleCallbackUrl={consoleCallbackUrl} />
              )}
            </AnswerView>
          ) : null}
        </li>
        {steps.last.map((step) => (
          <li key={step}>{step}</li>
        ))}
        <li>{text.setupLast}</li>
      </ol>
    </section>
  );
}

function Addresses(props: {
  readonly callbackUrls: readonly string[];
  readonly consoleCallbackUrl: string;
}): ReactNode {
  const text = useText(providersText);
  return (
    <>
      <ul className="fd-plain">
        {props.callbackUrls.map((address) => (
          <li key={address}>
            <CopyText value={address} />
          </li>
        ))}
      </ul>
      <p className="fd-soft">{text.setupConsole}</p>
      <CopyText value={props.consoleCallbackUrl} />
    </>
  );
}
