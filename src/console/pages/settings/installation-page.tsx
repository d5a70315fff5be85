/** The installation: addresses for everyone; numbers, versions, certificates and backup for operators. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useProgram } from '../../api/program.tsx';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { Problem } from '../../parts/problem.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { place } from '../../place.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

type Installation = AnswerOf<'getInstallation'>;
type Summary = AnswerOf<'getInstallationSummary'>;

export function InstallationPage(): ReactNode {
  const text = useText(settingsText);
  const { may } = useSession();
  const installation = useAnswer('getInstallation', {});
  return (
    <>
      <PageTitle title={text.installation} />
      <AnswerView answer={installation}>{({ body }) => <Addresses installation={body} />}</AnswerView>
      {may('getInstallationSummary') ? <Numbers /> : null}
      {may('getBackup') ? <Backup /> : null}
    </>
  );
}

function Addresses({ installation }: { readonly installation: Installation }): ReactNode {
  const text = useText(settingsText);
  const apiBase = `${window.location.origin}${place.base.replace(/\/console$/, '')}`;
  const { edgeApiUrl, routers, controlPlanes, overdueCertificates = [] } = installation;
  return (
    <>
      <Panel title={text.addresses}>
        <Facts
          facts={[
            [text.apiUrl, <CopyText key="api" value={apiBase} />],
            [text.apiPage, <CopyText key="page" value={`${apiBase}/docs`} href={`${apiBase}/docs`} />],
            [text.edgeUrl, <CopyText key="edge" value={edgeApiUrl} />],
          ]}
        />
      </Panel>
      <Panel title={text.routers}>
        <SimpleTable
          label={text.routers}
          head={[text.name, text.address, text.state]}
          rows={routers.map(({ name, address, online }) => [
            name,
            <CopyText key="address" value={address} />,
            <StateBadge key="state" tone={online ? 'good' : 'bad'}>
              {online ? text.online : text.offline}
            </StateBadge>,
          ])}
        />
      </Panel>
      {controlPlanes === undefined ? null : (
        <Panel title={text.controlPlanes}>
          <SimpleTable
            label={text.controlPlanes}
            head={[text.address, text.state]}
            rows={controlPlanes.map(({ apiUrl, silentSince }) => [
              <CopyText key="url" value={apiUrl} />,
              silentSince === null ? (
                <StateBadge key="state" tone="good">
                  {text.runs}
                </StateBadge>
              ) : (
                <StateBadge key="state" tone="bad">
                  {text.silentSince} <TimeAgo at={silentSince} />
                </StateBadge>
              ),
            ])}
          />
        </Panel>
      )}
      {overdueCertificates.length === 0 ? null : (
        <Panel title={text.certificates}>
          <SimpleTable
            label={text.certificates}
            head={[text.holder, text.kind, text.expires]}
            rows={overdueCertificates.map(({ kind, name, expiresAt }) => [
              name,
              kind,
              <TimeAgo key="end" at={expiresAt} />,
            ])}
          />
        </Panel>
      )}
    </>
  );
}

function Numbers(): ReactNode {
  const [text, format] = [useText(settingsText), useFormat()];
  const summary = useAnswer('getInstallationSummary', {});
  const of = ({ total, online }: { readonly total: number; readonly online: number }) =>
    text.ofTotal(format.number(online), format.number(total));
  const counts = (body: Summary): readonly (readonly [string, string])[] => [
    [text.countOf('organizations'), format.number(body.organizations)],
    [text.countOf('frontdoors'), format.number(body.frontdoors)],
    [text.countOf('shares'), format.number(body.shares.total)],
    [text.countOf('agents'), of(body.environments)],
    [text.countOf('routers'), of(body.routers)],
    [text.countOf('gateways'), of(body.gateways)],
    [text.countOf('links'), text.ofTotal(format.number(body.links.usable), format.number(body.links.total))],
    [text.countOf('circuits'), format.number(body.circuits)],
  ];
  return (
    <AnswerView answer={summary}>
      {({ body }) => (
        <>
          <Panel title={text.counts}>
            <Facts facts={counts(body)} />
          </Panel>
          <Panel title={text.versions}>
            <Versions title={text.agents} versions={body.agentVersions} />
            <Versions title={text.routers} versions={body.routerVersions} />
          </Panel>
        </>
      )}
    </AnswerView>
  );
}

function Versions(props: { readonly title: string; readonly versions: Summary['agentVersions'] }): ReactNode {
  const [text, common, format] = [useText(settingsText), useText(partsText), useFormat()];
  return (
    <SimpleTable
      label={props.title}
      head={[`${props.title}: ${text.version}`, text.count]}
      rows={props.versions.map(({ version, count }) => [version ?? common.notKnown, format.number(count)])}
    />
  );
}

function Backup(): ReactNode {
  const { api } = useProgram();
  const text = useText(settingsText);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => api.callForFile('getBackup', {}),
    onSuccess: (file) => saveFile(file, `frontdoor-${new Date().toISOString().slice(0, 10)}.backup`),
  });
  return (
    <Panel title={text.backup}>
      <p>{text.backupText}</p>
      {error === null ? null : <Problem error={error} />}
      <Button loading={isPending} onClick={() => mutate()}>
        {text.downloadBackup}
      </Button>
    </Panel>
  );
}
