/** The words round a lesson in Bulgarian. */
import type en from "./en";

export default {
  "learn.title": "Научи {game}",
  "learn.round": "Рунд {n} от {most}",
  "learn.next": "Напред",
  "learn.show": "Покажи ми",
  "learn.skip": "Прескочи рунда",
  "learn.again": "Отначало",
  "learn.leave": "Излез от урока",
  "learn.play": "Изиграй първата си игра",
  "learn.rules": "Всички правила",
  "learn.missing": "За тази игра няма урок.",
} satisfies Record<keyof typeof en, string>;
