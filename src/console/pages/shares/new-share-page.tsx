/** A new share in three steps. The API checks the values: its message leads back to the step that has the field. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { isApiError } from '../../api/api-error.ts';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { Form } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { newShareText } from './new-share-text.ts';
import { WhatStep, WhereStep, WhoStep } from './new-share-steps.tsx';
import { PublishedShare } from './published-share.tsx';
import { EMPTY_DRAFT, lackOf, newShareOf, stepOfField, STEPS, type ShareStep } from './share-draft.ts';

const FIELDS = [
  ...['environmentId', 'target', 'backendMode', 'name', 'frontendIds', 'ingress', 'ingressPort'],
  ...['authProviderIds', 'grants'],
];
const FORMS = { what: WhatStep, where: WhereStep, who: WhoStep };

export function NewSharePage(): ReactNode {
  const text = useText(newShareText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const [created, setCreated] = useState<AnswerOf<'createShare'> | undefined>();
  return (
    <>
      <PageTitle
        title={created === undefined ? text.title : text.published}
        above={
          <Link to="/frontdoors/$frontdoorId/shares" params={{ frontdoorId }}>
            {text.shares}
          </Link>
        }
      />
      {created !== undefined ? (
        <PublishedShare created={created} onAnother={() => setCreated(undefined)} />
      ) : (
        <Panel>{may('createShare') ? <ShareForm onCreated={setCreated} /> : <p>{text.askToCreate}</p>}</Panel>
      )}
    </>
  );
}

function ShareForm({
  onCreated,
}: {
  readonly onCreated: (created: AnswerOf<'createShare'>) => void;
}): ReactNode {
  const text = useText(newShareText);
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const [draft, setDraft] = useState({ ...EMPTY_DRAFT, environmentId: control.textOf('environmentId') });
  const [step, setStep] = useState<ShareStep>('what');
  const [isChecked, setChecked] = useState(false);
  const idempotencyKey = useIdempotencyKey();
  const create = useChange('createShare', { refreshes: ['share'], onDone: ({ body }) => onCreated(body) });
  const at = STEPS.indexOf(step);
  const lack = lackOf(draft, step);

  const go = (to: ShareStep | undefined) => {
    setChecked(false);
    if (to !== undefined) setStep(to);
  };
  const { error } = create;
  const backToField = (refusal: Error) => {
    // A name that is taken has no field in its message.
    if (isApiError(refusal, 409)) setStep('where');
    else if (isApiError(refusal, 400) && refusal.field !== undefined)
      setStep(stepOfField(refusal.field) ?? step);
  };
  const submit = () => {
    if (lack !== undefined) setChecked(true);
    else if (step === 'who') {
      const body = newShareOf(draft);
      create.mutate({ parameters: { frontdoorId }, body, idempotencyKey }, { onError: backToField });
    } else go(STEPS[at + 1]);
  };
  const StepForm = FORMS[step];
  return (
    <>
      <StepList step={step} />
      <Form
        fields={FIELDS}
        error={error}
        isPending={create.isPending}
        submit={step === 'who' ? text.publish : text.next}
        onSubmit={submit}
        cancel={text.back}
        onCancel={at === 0 ? undefined : () => go(STEPS[at - 1])}
      >
        <StepHead step={step} />
        <div className="fd-fields">
          <StepForm
            draft={draft}
            onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
            lack={isChecked ? lack : undefined}
          />
        </div>
      </Form>
    </>
  );
}

function StepList({ step }: { readonly step: ShareStep }): ReactNode {
  const text = useText(newShareText);
  const at = STEPS.indexOf(step);
  return (
    <ol className="fd-steps" aria-label={text.steps}>
      {STEPS.map((each, index) => (
        <li key={each} {...(each === step ? { 'aria-current': 'step' as const } : {})}>
          {index < at ? <Icon name="check" /> : null}
          {text.step(each)}
        </li>
      ))}
    </ol>
  );
}

/** The focus goes to the head of a new step, for those who use the keyboard or listen. */
function StepHead({ step }: { readonly step: ShareStep }): ReactNode {
  const [text, format] = [useText(newShareText), useFormat()];
  const head = useRef<HTMLHeadingElement>(null);
  const last = useRef(step);
  useEffect(() => {
    if (last.current !== step) head.current?.focus();
    last.current = step;
  }, [step]);
  return (
    <>
      <p className="fd-soft fd-small fd-step-count">
        {text.stepOf(format.number(STEPS.indexOf(step) + 1), format.number(STEPS.length))}
      </p>
      <h2 ref={head} tabIndex={-1} className="fd-step-head">
        {text.step(step)}
      </h2>
    </>
  );
}
