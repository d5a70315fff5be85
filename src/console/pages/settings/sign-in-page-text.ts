import { defineText } from '../../text/define-text.ts';

/** Texts of the look of sign-in pages. */
export const signInPageText = defineText({
  en: {
    title: 'Sign-in pages',
    intro:
      'People see this name and logo where they sign in to the console. Visitors of guarded shares see them where they choose a sign-in provider.',
    name: 'Name on the page',
    nameHelp:
      'If empty, the console shows the name of the organization, and pages of shares show none: visitors learn only what is entered here.',
    logo: 'Logo',
    logoHelp: 'A PNG, JPEG, WebP or SVG file. It is converted to a PNG image of at most 320 by 128 pixels.',
    logoShown: 'The logo',
    logoUnreadable: 'The browser cannot read this file as a picture. Select another one.',
    chooseLogo: 'Select a logo',
    otherLogo: 'Select another logo',
    removeLogo: 'Remove logo',
    save: 'Save sign-in pages',
  },
  de: {
    title: 'Anmeldeseiten',
    intro:
      'Diesen Namen und dieses Logo sehen Personen, die sich an der Konsole anmelden, und Besucher geschützter Freigaben, die einen Anmeldeanbieter auswählen.',
    name: 'Name auf der Seite',
    nameHelp:
      'Wenn das Feld leer ist, zeigt die Konsole den Namen der Organisation, und Seiten von Freigaben zeigen keinen: Besucher erfahren nur, was hier steht.',
    logo: 'Logo',
    logoHelp:
      'Eine PNG-, JPEG-, WebP- oder SVG-Datei. Sie wird in ein PNG-Bild von höchstens 320 mal 128 Pixeln umgewandelt.',
    logoShown: 'Das Logo',
    logoUnreadable: 'Der Browser kann diese Datei nicht als Bild lesen. Wählen Sie eine andere aus.',
    chooseLogo: 'Logo auswählen',
    otherLogo: 'Anderes Logo auswählen',
    removeLogo: 'Logo entfernen',
    save: 'Anmeldeseiten speichern',
  },
});
