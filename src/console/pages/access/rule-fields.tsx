/** The fields of each rule of a policy, by the name of the rule at the API. */
import type { ReactNode } from 'react';
import { FlagField } from '../../parts/flag-field.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { TimeInput } from '../../parts/time-input.tsx';
import { useText } from '../../text/language.tsx';
import { accessText } from './access-text.ts';
import type { PolicyDraft } from './policy-draft.ts';
import { ClaimsField, SpanField, UsersField, type SectionProps } from './policy-fields.tsx';
import { CorsFields, HstsFields, RedirectField } from './web-rule-fields.tsx';

export interface RuleRow {
  readonly Fields: (props: SectionProps) => ReactNode;
  /** The fields of the draft that belong to it. */
  readonly draft: readonly (keyof PolicyDraft)[];
  /** What a rule begins with that has no empty field. */
  readonly first?: Partial<PolicyDraft>;
}

type LinesName = 'emails' | 'ipAllow' | 'ipDeny' | 'publicPaths' | 'allowedOrigins';
const HELP = {
  emails: 'emailsHelp',
  ipAllow: 'ipAllowHelp',
  ipDeny: 'ipDenyHelp',
  publicPaths: 'publicPathsHelp',
  allowedOrigins: 'allowedOriginsHelp',
} as const;

function linesRule(name: LinesName): RuleRow {
  return {
    draft: [name],
    Fields: function Lines({ draft, set }) {
      const text = useText(accessText);
      return (
        <LinesField
          name={name}
          label={text[name]}
          description={text[HELP[name]]}
          value={draft[name]}
          onChange={(value) => set({ [name]: value })}
        />
      );
    },
  };
}

/** In the order in which they are offered. */
export const RULES: Readonly<Record<string, RuleRow>> = {
  emails: linesRule('emails'),
  claims: {
    draft: ['claims'],
    Fields: ({ draft, set }) => <ClaimsField value={draft.claims} onChange={(claims) => set({ claims })} />,
  },
  basicAuth: {
    draft: ['basicAuth'],
    Fields: ({ draft, set }) => (
      <UsersField value={draft.basicAuth} onChange={(basicAuth) => set({ basicAuth })} />
    ),
  },
  clientCertificate: { draft: ['authorities', 'certificateNames'], Fields: CertificateFields },
  ipAllow: linesRule('ipAllow'),
  ipDeny: linesRule('ipDeny'),
  expiresAt: { draft: ['expiresAt'], Fields: EndField },
  rateLimit: { draft: ['rateRequests', 'ratePer'], Fields: RateFields },
  publicPaths: linesRule('publicPaths'),
  session: { draft: ['sessionIdle', 'sessionAbsolute'], Fields: SessionFields },
  allowedOrigins: linesRule('allowedOrigins'),
  allowPreflights: {
    draft: ['allowPreflights'],
    first: { allowPreflights: true },
    Fields: PreflightField,
  },
  cors: { draft: ['cors'], Fields: CorsFields },
  hsts: { draft: ['hsts'], Fields: HstsFields },
  httpsRedirect: { draft: ['httpsRedirect'], first: { httpsRedirect: 'always' }, Fields: RedirectField },
  responseTimeoutSeconds: { draft: ['responseTimeoutSeconds'], Fields: TimeoutField },
  contact: { draft: ['contact'], Fields: ContactField },
};

function CertificateFields({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <>
      <LinesField
        name="clientCertificate.authorities"
        label={text.authorities}
        description={text.authoritiesHelp}
        value={draft.authorities}
        onChange={(authorities) => set({ authorities })}
      />
      <LinesField
        name="clientCertificate.names"
        label={text.certificateNames}
        description={text.certificateNamesHelp}
        value={draft.certificateNames}
        onChange={(certificateNames) => set({ certificateNames })}
      />
    </>
  );
}

function EndField({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <TimeInput
      label={text.expiresAt}
      description={text.expiresAtHelp}
      error={useFieldError('expiresAt')}
      value={draft.expiresAt}
      onChange={(expiresAt) => set({ expiresAt })}
    />
  );
}

function RateFields({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <>
      <TextField
        name="rateLimit.requests"
        label={text.rateRequests}
        description={text.rateHelp}
        inputMode="numeric"
        value={draft.rateRequests}
        onChange={(rateRequests) => set({ rateRequests })}
      />
      <SpanField
        name="rateLimit.per"
        label={text.ratePer}
        value={draft.ratePer}
        onChange={(ratePer) => set({ ratePer })}
      />
    </>
  );
}

function SessionFields({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <>
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
    </>
  );
}

function PreflightField({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <FlagField
      name="allowPreflights"
      label={text.allowPreflights}
      value={draft.allowPreflights}
      onChange={(allowPreflights) => set({ allowPreflights })}
    />
  );
}

function TimeoutField({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <TextField
      name="responseTimeoutSeconds"
      label={text.responseTimeout}
      description={text.responseTimeoutHelp}
      inputMode="numeric"
      value={draft.responseTimeoutSeconds}
      onChange={(responseTimeoutSeconds) => set({ responseTimeoutSeconds })}
    />
  );
}

function ContactField({ draft, set }: SectionProps): ReactNode {
  const text = useText(accessText);
  return (
    <TextField
      name="contact"
      label={text.contact}
      description={text.contactHelp}
      value={draft.contact}
      onChange={(contact) => set({ contact })}
    />
  );
}
