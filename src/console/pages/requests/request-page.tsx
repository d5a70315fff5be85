/** One recorded request, beside the one that it repeats, with what can be done with it. */
import { Button, Group, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { curlCommand } from 'frontdoor:curl-command';
import { useState, type ReactNode } from 'react';
import type { InspectedRequestAnswer, ReplayBody } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyButton } from '../../parts/copy-text.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { useShare } from '../shares/share-frame.tsx';
import { base64OfText, bytesOfBase64, textOf } from './body-view.ts';
import { ExchangeView } from './exchange-view.tsx';
import { parseHeaderLines } from './header-lines.ts';
import { LEFT_OUT } from './left-out.ts';
import { requestsText } from './requests-text.ts';

export function RequestPage(): ReactNode {
  const text = useText(requestsText);
  const { may } = useSession();
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token') };
  const id = useParam('requestId');
  const answer = useAnswer('getInspectedRequest', { parameters: { ...parameters, id } });
  const addresses = useShare().data?.body.frontendEndpoints ?? [];
  const [isReplaying, setReplaying] = useState(false);
  const [sentId, setSentId] = useState<string | undefined>();
  return (
    <>
      <p>
        <Link to="/frontdoors/$frontdoorId/shares/$token/requests" params={parameters}>
          {text.back}
        </Link>
      </p>
      <AnswerView answer={answer}>
        {({ body }) => (
          <>
            <Group mb="md">
              <Button disabled={!may('replayInspectedRequest')} onClick={() => setReplaying(true)}>
                {text.replayEdited}
              </Button>
              <span>
                {text.copyCurl} <CopyButton value={curlOf(body, addresses)} label={text.copyCurl} />
              </span>
              <span role="status">
                {sentId === undefined ? null : (
                  <>
                    {text.replaced}{' '}
                    <Link
                      to="/frontdoors/$frontdoorId/shares/$token/requests/$requestId"
                      params={{ ...parameters, requestId: sentId }}
                      onClick={() => setSentId(undefined)}
                    >
                      {text.openReplay}
                    </Link>
                  </>
                )}
              </span>
            </Group>
            <SideBySide exchange={body} parameters={parameters} />
            {isReplaying ? (
              <ReplayDialog
                exchange={body}
                parameters={{ ...parameters, id }}
                onClose={() => setReplaying(false)}
                onSent={(made) => {
                  setReplaying(false);
                  setSentId(made);
                }}
              />
            ) : null}
          </>
        )}
      </AnswerView>
    </>
  );
}

/** Undefined for a body that is no text. */
function bodyTextOf({ request: { body } }: InspectedRequestAnswer): string | undefined {
  return textOf(bytesOfBase64(body ?? ''));
}

function curlOf(exchange: InspectedRequestAnswer, addresses: readonly string[]): string {
  const { method, host, target, request } = exchange;
  const text = request.bodyIsWhole ? bodyTextOf(exchange) : undefined;
  const body = text === undefined ? 'binary' : text === '' ? undefined : { text };
  return curlCommand({ method, host, target, headers: request.headers, body }, addresses, LEFT_OUT);
}

/** A repetition stands beside what it repeats, while that is still recorded. */
function SideBySide(props: {
  readonly exchange: InspectedRequestAnswer;
  readonly parameters: { readonly frontdoorId: string; readonly token: string };
}): ReactNode {
  const text = useText(requestsText);
  const { exchange, parameters } = props;
  const { replayOf } = exchange;
  const original = useAnswer(
    'getInspectedRequest',
    { parameters: { ...parameters, id: replayOf ?? '' } },
    { enabled: replayOf !== null },
  );
  if (replayOf === null || original.data === undefined) return <ExchangeView exchange={exchange} />;
  return (
    <div className="fd-beside">
      <section aria-label={text.original}>
        <h2>{text.original}</h2>
        <ExchangeView exchange={original.data.body} />
      </section>
      <section aria-label={text.repetition}>
        <h2>{text.repetition}</h2>
        <ExchangeView exchange={exchange} />
      </section>
    </div>
  );
}

function ReplayDialog(props: {
  readonly exchange: InspectedRequestAnswer;
  readonly parameters: { readonly frontdoorId: string; readonly token: string; readonly id: string };
  readonly onClose: () => void;
  readonly onSent: (id: string) => void;
}): ReactNode {
  const text = useText(requestsText);
  const { exchange, parameters, onClose, onSent } = props;
  const recorded = bodyTextOf(exchange);
  const { bodyIsWhole } = exchange.request;
  const wholeHint = recorded === undefined ? text.binaryBodyHint : undefined;
  const [headerLines, setHeaderLines] = useState('');
  const [bodyText, setBodyText] = useState(recorded ?? '');
  const { mutate, error, isPending } = useChange('replayInspectedRequest', {
    refreshes: ['request'],
    onDone: ({ body }) => onSent(body.id),
  });
  const headers = parseHeaderLines(headerLines);
  const wrongLine = typeof headers === 'string' ? headers : undefined;
  const submit = () => {
    if (typeof headers === 'string') return;
    const body: ReplayBody = {
      ...(headers.length === 0 ? {} : { headers: [...headers] }),
      ...(bodyIsWhole && bodyText === (recorded ?? '') ? {} : { body: base64OfText(bodyText) }),
    };
    mutate({ parameters, body });
  };
  return (
    <Dialog title={text.replayEdited} isOpen onClose={onClose} size="xl">
      <Form
        fields={[]}
        error={error}
        isPending={isPending}
        isDisabled={wrongLine !== undefined}
        submit={text.replay}
        onCancel={onClose}
        onSubmit={submit}
      >
        <p>{text.replayText}</p>
        <Textarea
          className="fd-mono"
          label={text.extraHeaders}
          rows={3}
          value={headerLines}
          error={wrongLine === undefined ? undefined : text.headerForm(wrongLine)}
          onChange={({ currentTarget }) => setHeaderLines(currentTarget.value)}
        />
        <Textarea
          className="fd-mono"
          mt="md"
          label={text.newBody}
          description={bodyIsWhole ? wholeHint : text.newBodyHint}
          rows={8}
          value={bodyText}
          onChange={({ currentTarget }) => setBodyText(currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}
