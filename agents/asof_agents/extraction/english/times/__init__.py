"""The grammar of English time expressions: lexicon, rewriting rules, and the calendar they resolve on."""
