/** The lesson of Nikitin Towers in Italian. `lessons.py` has the script. */
import type en from "./en";

export default {
  "nikitin_towers.lesson.die": "Impari il gioco in cinque turni brevi. Ogni giocatore costruisce una torre su un tappetino di tre caselle per tre. Vince la torre più alta. Hai tirato un 6, quindi il tuo blocco ha sei cubi. Il bot è il tuo vicino e sceglie il blocco per te.",
  "nikitin_towers.lesson.place": "Il bot ti ha dato la lastra. Sta sul bordo. Premi il pulsante di rotazione a destra (tasto {key}): ora è piatta. Le frecce la spostano, e puoi anche trascinarla. Al primo livello un blocco deve stare sul tappetino. Premi Posa.",
  "nikitin_towers.lesson.place.else": "In una partita vera puoi posarlo lì. Questa lezione vuole un altro posto. Segui il testo, o premi Fammi vedere.",
  "nikitin_towers.lesson.choose": "Ora costruisce il bot e tu scegli il suo blocco. Il dado mostra 5. In una partita vera scegli fra tutti i blocchi di quella misura. Prendine uno scomodo: dai la W.",
  "nikitin_towers.lesson.choose.else": "Questa lezione continua con il blocco mostrato.",
  "nikitin_towers.lesson.tip": "Hai tirato un 3 e hai una barra. Starebbe piatta sulla tua lastra. Mettila in piedi: premi il pulsante di rotazione al centro (tasto {key}), poi Posa.",
  "nikitin_towers.lesson.reply": "La tua torre ha ora quattro livelli. Il bot ha tirato un 5. Dagli la croce.",
  "nikitin_towers.lesson.move": "Hai un quadrato. Spostalo a destra (→). Lì starebbe in cima alla barra e cadrebbe: il gioco mostra dove si appoggia un blocco, ma mai se regge. Spostalo ancora a destra (→), poi premi Posa.",
  "nikitin_towers.lesson.risk": "Il bot ha tirato un 3. Dagli una barra e guarda.",
  "nikitin_towers.lesson.crash": "Che crollo. Il bot ha lasciato sporgere troppo la barra. La barra è caduta e ha trascinato un altro blocco. I blocchi caduti tornano nella riserva.",
  "nikitin_towers.lesson.pole": "Hai una seconda barra. Spostala a destra (→), poi premi il pulsante di rotazione al centro (tasto {key}), così sta in piedi sulla prima. Premi Posa.",
  "nikitin_towers.lesson.awkward": "La tua torre ha sette livelli. Il bot ha tirato un 5. Dagli la T con bottone.",
  "nikitin_towers.lesson.crown": "Hai l’ultima barra. Spostala a destra (→). Questa volta non metterla in piedi: un palo largo un cubo cade quando diventa troppo alto. Piatta è in equilibrio. Premi Posa.",
  "nikitin_towers.lesson.end": "La tua torre ha otto livelli, quella del bot tre. Una partita finisce quando la riserva è vuota. Se un blocco non reggerebbe in nessun posto, puoi restituirlo. Ora conosci le regole.",
} satisfies Record<keyof typeof en, string>;
