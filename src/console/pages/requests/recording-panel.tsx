/** Switches the recording of a share's requests on for a while, and off. */
import { Button, Group, NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useProgram } from '../../api/program.tsx';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { requestsText } from './requests-text.ts';

const MINUTE_MS = 60_000;
const MINUTES = [15, 60, 480, 1_440] as const;
const BODY_BYTES = [0, 4_096, 65_536] as const;

interface ShareParameters {
  readonly frontdoorId: string;
  readonly token: string;
}

export function RecordingPanel({ parameters }: { readonly parameters: ShareParameters }): ReactNode {
  const text = useText(requestsText);
  const { may } = useSession();
  const inspector = useAnswer('getInspector', { parameters });
  const set = useChange('setInspector', { refreshes: ['share'] });
  return (
    <Panel title={text.recording}>
      {set.error === null ? null : <Problem error={set.error} onAgain={() => void inspector.refetch()} />}
      <AnswerView answer={inspector}>
        {({ body, etag }) => (
          <>
            <p role="status">
              <StateBadge tone={body.enabled ? 'good' : 'soft'}>
                {body.enabled ? text.isOn : text.isOff} {body.enabled ? <TimeAgo at={body.until} /> : null}
              </StateBadge>
            </p>
            <p className="fd-small fd-soft">{text.warning}</p>
            <Group align="end">
              {body.enabled ? (
                <Button
                  disabled={!may('setInspector')}
                  loading={set.isPending}
                  onClick={() => set.mutate({ parameters, body: { enabled: false }, ifMatch: etag })}
                >
                  {text.stop}
                </Button>
              ) : (
                <StartRecording
                  isPending={set.isPending}
                  onStart={(span) =>
                    set.mutate({ parameters, body: { enabled: true, ...span }, ifMatch: etag })
                  }
                />
              )}
              <ConfirmedAction
                operation="deleteInspectedRequests"
                input={{ parameters }}
                refreshes={['request']}
                label={text.deleteAll}
                title={text.deleteAll}
                isDisabled={!may('deleteInspectedRequests')}
                size="sm"
              >
                <p>{text.deleteText}</p>
              </ConfirmedAction>
            </Group>
          </>
        )}
      </AnswerView>
    </Panel>
  );
}

/** Asks for how long requests are recorded, and how much of their bodies. */
function StartRecording(props: {
  readonly isPending: boolean;
  readonly onStart: (span: { readonly maxBodyBytes: number; readonly until: string }) => void;
}): ReactNode {
  const [text, format] = [useText(requestsText), useFormat()];
  const { may } = useSession();
  const { clock } = useProgram().api;
  const [minutes, setMinutes] = useState<number>(60);
  const [maxBodyBytes, setBodyBytes] = useState<number>(65_536);
  const span = (count: number) =>
    count < 120 ? text.minutes(format.number(count)) : text.hours(format.number(count / 60));
  return (
    <>
      <NativeSelect
        label={text.howLong}
        value={String(minutes)}
        onChange={({ currentTarget }) => setMinutes(Number(currentTarget.value))}
        data={MINUTES.map((count) => ({ value: String(count), label: span(count) }))}
      />
      <NativeSelect
        label={text.bodies}
        value={String(maxBodyBytes)}
        onChange={({ currentTarget }) => setBodyBytes(Number(currentTarget.value))}
        data={BODY_BYTES.map((count) => ({
          value: String(count),
          label: count === 0 ? text.noBodies : format.bytes(count),
        }))}
      />
      <Button
        disabled={!may('setInspector')}
        loading={props.isPending}
        onClick={() => {
          const until = new Date(clock.nowMs() + minutes * MINUTE_MS - 1_000).toISOString();
          props.onStart({ maxBodyBytes, until });
        }}
      >
        {text.start}
      </Button>
    </>
  );
}
