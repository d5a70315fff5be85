/** The policy of a share, in sections. */
import { Button, Fieldset } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SharePolicyAnswer } from '#contract/schemas';
import { useSession } from '../../api/session.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { EditForm, type SentChange } from '../../parts/edit-form.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { TimeInput } from '../../parts/time-input.tsx';
import type { Edit } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { accessText } from './access-text.ts';
import type { PolicyDraft } from './policy-draft.ts';
import { ClaimsField, SpanField, UsersField, type SectionProps } from './policy-fields.tsx';
import { CorsSection, HttpsSection, PagesSection } from './policy-web-sections.tsx';

const FIELDS = [
  'emails',
  'ipAllow',
  'ipDeny',
  'publicPaths',
  'expiresAt',
  'rateLimit',
  'session',
  'allowedOrigins',
  'clientCertificate.authorities',
  'clientCertificate.names',
  'responseTimeoutSeconds',
  'contact',
  'httpsRedirect',
  'hsts',
  'cors',
];

export function PolicyForm(props: {
  readonly edit: Edit<SharePolicyAnswer, PolicyDraft>;
  readonly change: SentChange;
  readonly changedCount: number;
  /** Whether there are rules about people that no chosen log-in proves. */
  readonly isNobodyProven: boolean;
  readonly onSubmit: () => void;
  readonly onDiscard: () => void;
}): ReactNode {
  const [text, parts] = [useText(accessText), useText(partsText)];
  const { edit, changedCount, onDiscard } = props;
  const { draft, type: set } = edit;
  const mayChange = useSession().may('replaceSharePolicy');
  const claims = draft.claims.flatMap((_rule, at) => [`claims.${at}.claim`, `claims.${at}.anyOf`]);
  const users = draft.basicAuth.flatMap((_user, at) => [`basicAuth.${at}.name`, `basicAuth.${at}.password`]);
  return (
    <Panel title={text.policy}>
      <p className="fd-soft">{text.policyIntro}</p>
      <Warnings warnings={edit.base.body.warnings} />
      {mayChange ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={props.change}
        fields={[...FIELDS, ...claims, ...users]}
        isDisabled={changedCount === 0 || !mayChange}
        submit={text.review}
        saved={text.saved}
        onSubmit={props.onSubmit}
      >
        {/* Nothing in it can be changed by who may not change it. */}
        <fieldset className="fd-bare" disabled={!mayChange}>
          <PeopleSection draft={draft} set={set} />
          {props.isNobodyProven ? (
            <div role="status" className="fd-wrap">
              <StateBadge tone="bad">{text.nobodyProven}</StateBadge>
            </div>
          ) : null}
          <NetworkSection draft={draft} set={set} />
          <TimeSection draft={draft} set={set} />
          <PagesSection draft={draft} set={set} />
          <HttpsSection draft={draft} set={set} />
          <CorsSection draft={draft} set={set} />
        </fieldset>
        {changedCount === 0 ? null : (
          <Button variant="subtle" onClick={onDiscard}>
            {text.discard}
          </Button>
        )}
      </EditForm>
    </Panel>
  );
}

/** What the API says about the stored policy. One of an earlier version says nothing. */
function Warnings({ warnings = [] }: Partial<Pick<SharePolicyAnswer, 'warnings'>>): ReactNode {
  return warnings.map(({ field, message }) => (
    <p key={field} className="fd-warn">
      <ApiText>{message}</ApiText>
    </p>
  ));
}

function PeopleSection({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <Fieldset legend={text.people} mb="md">
      <LinesField
        name="emails"
        label={text.emails}
        description={text.emailsHelp}
        value={draft.emails}
        onChange={(emails) => set({ emails })}
      />
      <ClaimsField value={draft.claims} onChange={(claims) => set({ claims })} />
      <UsersField value={draft.basicAuth} onChange={(basicAuth) => set({ basicAuth })} />
      <SpanField
        name="session.idle"
        label={text.sessionIdle}
        value={draft.sessionIdle}
        onChange={(sessionIdle) => set({ sessionIdle })}
      />
      <SpanField
        name="session.absolute"
        label={text.sessionAbsolute}
        value={draft.sessionAbsolute}
        onChange={(sessionAbsolute) => set({ sessionAbsolute })}
      />
    </Fieldset>
  );
}

function NetworkSection({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <Fieldset legend={text.network} mb="md">
      <LinesField
        name="ipAllow"
        label={text.ipAllow}
        description={text.ipAllowHelp}
        value={draft.ipAllow}
        onChange={(ipAllow) => set({ ipAllow })}
      />
      <LinesField
        name="ipDeny"
        label={text.ipDeny}
        description={text.ipDenyHelp}
        value={draft.ipDeny}
        onChange={(ipDeny) => set({ ipDeny })}
      />
      <LinesField
        name="clientCertificate.authorities"
        label={text.authorities}
        description={text.authoritiesHelp}
        value={draft.authorities}
        onChange={(authorities) => set({ authorities })}
      />
      {draft.authorities.trim() === '' ? null : (
        <LinesField
          name="clientCertificate.names"
          label={text.certificateNames}
          description={text.certificateNamesHelp}
          value={draft.certificateNames}
          onChange={(certificateNames) => set({ certificateNames })}
        />
      )}
    </Fieldset>
  );
}

function TimeSection({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <Fieldset legend={text.time} mb="md">
      <TimeInput
        label={text.expiresAt}
        description={text.expiresAtHelp}
        error={useFieldError('expiresAt')}
        value={draft.expiresAt}
        onChange={(expiresAt) => set({ expiresAt })}
      />
      <TextField
        name="rateLimit.requests"
        label={text.rateRequests}
        description={text.rateHelp}
        inputMode="numeric"
        value={draft.rateRequests}
        onChange={(rateRequests) => set({ rateRequests })}
      />
      {draft.rateRequests === '' ? null : (
        <SpanField
          name="rateLimit.per"
          label={text.ratePer}
          value={draft.ratePer}
          onChange={(ratePer) => set({ ratePer })}
        />
      )}
      <TextField
        name="responseTimeoutSeconds"
        label={text.responseTimeout}
        description={text.responseTimeoutHelp}
        inputMode="numeric"
        value={draft.responseTimeoutSeconds}
        onChange={(responseTimeoutSeconds) => set({ responseTimeoutSeconds })}
      />
    </Fieldset>
  );
}
