/**
 * The request log of a frontdoor: the newest requests to all shares, by filters that stand in the address, older ones page by page,
 * and one of them in a dialog. It asks for new requests only while someone follows them.
 */
import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useProgram } from '../../api/program.tsx';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Filters, type PageFilter } from '../../parts/filters.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { LOG_FILTERS } from './log-filter-table.ts';
import { LogSettingsButton } from './log-settings.tsx';
import { LoggedRequestDialog } from './logged-request-dialog.tsx';
import { LoggedRequestTable } from './logged-request-table.tsx';
import { requestLogText } from './request-log-text.ts';

const FOLLOW_MS = 2_000;
const PAGE_SIZE = 50;
const OUTCOMES = ['unserved', 'served', 'refused', 'failed', 'broken-off', 'client-gone'] as const;
const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

export function RequestLogPage(): ReactNode {
  const text = useText(requestLogText);
  const parameters = { frontdoorId: useFrontdoorId() };
  const control = useSearchState();
  const filters = Object.fromEntries(LOG_FILTERS.map((name) => [name, control.textOf(name).trim()]));
  const key = JSON.stringify(filters);
  // Other filters begin at the newest request again.
  const [page, setPage] = useState({ key, cursor: '' });
  const cursor = page.key === key ? page.cursor : '';
  const [isFollowing, setFollowing] = useState(false);
  const answer = useAnswer(
    'listRequests',
    { parameters, query: { ...filters, cursor, limit: PAGE_SIZE } },
    { refetchMs: isFollowing && cursor === '' ? FOLLOW_MS : undefined },
  );
  const isFiltered = LOG_FILTERS.some((name) => filters[name] !== '');
  const clear = () => control.change(Object.fromEntries(LOG_FILTERS.map((name) => [name, undefined])));
  const opened = control.textOf('request');
  const show = (id: string | undefined) => control.change({ request: id }, { replace: true });
  const pageFilters = useFilters();
  return (
    <>
      <PageTitle title={text.requests}>
        <Group gap="xs">
          <LogSettingsButton />
          <Export frontdoorId={parameters.frontdoorId} filters={filters} />
          <Button
            variant="default"
            aria-pressed={isFollowing}
            onClick={() => {
              setPage({ key, cursor: '' });
              setFollowing(!isFollowing);
            }}
          >
            {isFollowing ? text.pause : text.follow}
          </Button>
        </Group>
      </PageTitle>
      <Kept frontdoorId={parameters.frontdoorId} />
      <p role="status">{isFollowing && cursor === '' ? text.following : null}</p>
      <Panel>
        <Filters
          label={text.requests}
          filters={pageFilters}
          control={control}
          {...(isFiltered ? { onClear: clear } : {})}
        />
        <AnswerView answer={answer}>
          {({ body }) => (
            <>
              {body.content.length === 0 ? (
                <p className="fd-soft">{isFiltered || cursor !== '' ? text.noneFound : text.none}</p>
              ) : (
                <LoggedRequestTable rows={body.content} onOpen={show} />
              )}
              <Group justify="flex-end" gap="xs">
                {cursor === '' ? null : (
                  <Button variant="default" onClick={() => setPage({ key, cursor: '' })}>
                    {text.newest}
                  </Button>
                )}
                {body.next === null ? null : (
                  <Button variant="default" onClick={() => setPage({ key, cursor: body.next ?? '' })}>
                    {text.older}
                  </Button>
                )}
              </Group>
            </>
          )}
        </AnswerView>
      </Panel>
      {opened === '' ? null : <LoggedRequestDialog requestId={opened} onClose={() => show(undefined)} />}
    </>
  );
}

function useFilters(): readonly PageFilter[] {
  const text = useText(requestLogText);
  const outcomes = OUTCOMES.map((value) => ({ value, label: text.outcomeName(value) }));
  const classes = CLASSES.map((value) => ({ value, label: value === 'none' ? text.noStatus : value }));
  return [
    { name: 'text', label: text.text, by: 'text' },
    { name: 'shareToken', label: text.share, by: 'text' },
    { name: 'outcome', label: text.outcome, by: outcomes },
    { name: 'statusClass', label: text.statusClass, by: classes },
    { name: 'client', label: text.client, by: 'text' },
    { name: 'caller', label: text.caller, by: 'text' },
  ];
}

function Kept({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const [text, format] = [useText(requestLogText), useFormat()];
  const { data } = useAnswer('getRequestLog', { parameters: { frontdoorId } });
  if (data === undefined) return <p className="fd-soft">&nbsp;</p>;
  const { enabled, keptHours, maxEntries, entries, usedBytes } = data.body;
  return (
    <p className="fd-soft">
      {enabled
        ? text.kept(
            format.number(keptHours),
            format.number(maxEntries),
            format.number(entries),
            format.bytes(usedBytes),
          )
        : text.off}
    </p>
  );
}

function Export({
  frontdoorId,
  filters,
}: {
  readonly frontdoorId: string;
  readonly filters: Readonly<Record<string, string>>;
}): ReactNode {
  const { api } = useProgram();
  const text = useText(requestLogText);
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (format: 'csv' | 'jsonl') =>
      saveFile(
        await api.callForFile('exportRequests', {
          parameters: { frontdoorId },
          query: { ...filters, format },
        }),
        `frontdoor-requests.${format}`,
      ),
  });
  return (
    <>
      {error === null ? null : <Problem error={error} />}
      <Button variant="default" loading={isPending} onClick={() => mutate('csv')}>
        {text.exportCsv}
      </Button>
      <Button variant="default" loading={isPending} onClick={() => mutate('jsonl')}>
        {text.exportJson}
      </Button>
    </>
  );
}
