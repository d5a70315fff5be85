import { defineText } from '../../text/define-text.ts';

/** Texts of the settings of a share. */
export const shareSettingsText = defineText({
  en: {
    general: 'Settings',
    fixed: 'Fixed settings',
    fixedText:
      'The name and the agent of a share cannot be changed. To use different ones, publish the service again and delete this share.',
    name: 'Name',
    noName: 'none (random token)',
    agent: 'Agent',
    publishAgain: 'Publish again',
    kept: 'Keep this share until it is deleted',
    keptHint: 'Otherwise the share is removed when its agent releases it.',
    nothingChanged: 'No changes.',
    toPrivate:
      'The addresses of this share stop working immediately. Its name stays reserved for a while, so that nobody else can use it.',
    toPublic:
      'The service becomes reachable for everyone with the address, subject to sign-in providers and the policy. Check the access settings first.',
    remove: 'Delete this share',
    removeText:
      'Its addresses stop working immediately, and open connections are closed. This cannot be undone.',
    removeTitle: (name: string) => `Delete ${name}`,
    removeAction: 'Delete',
    roleTooLow: 'Your role does not allow you to change shares. The settings are read-only.',
  },
  de: {
    general: 'Einstellungen',
    fixed: 'Was bleibt',
    fixedText:
      'Der Name gehört zur Adresse und der Agent zum Weg: beide bleiben. Für andere geben Sie den Dienst erneut frei und löschen diese Freigabe.',
    name: 'Name',
    noName: 'keiner, der Token ist zufällig',
    agent: 'Agent',
    publishAgain: 'Erneut freigeben',
    kept: 'Freigabe behalten, bis sie gelöscht wird',
    keptHint: 'Eine Freigabe, die nicht behalten wird, endet, wenn ihr Agent sie aufgibt.',
    nothingChanged: 'Nichts ist geändert.',
    toPrivate:
      'Die Adressen dieser Freigabe enden sofort. Eine Zeit lang kann niemand sonst ihre Namen nehmen, damit dort nichts anderes erreicht wird.',
    toPublic:
      'Der Dienst wird für alle erreichbar, die die Adresse haben, soweit Anmeldungen und Richtlinie es erlauben. Sehen Sie zuerst den Zugang an.',
    remove: 'Diese Freigabe löschen',
    removeText:
      'Ihre Adressen enden sofort, und offene Verbindungen werden getrennt. Das lässt sich nicht rückgängig machen.',
    removeTitle: (name: string) => `${name} löschen`,
    removeAction: 'Löschen',
    roleTooLow: 'Ihre Rolle erlaubt nicht, Freigaben zu ändern. Sie sehen die Einstellungen, wie sie sind.',
  },
});
