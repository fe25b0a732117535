# SPDX-License-Identifier: GPL-2.0-only
# fish completion of hlguest: verbs, options, values, ELF files and recordings.

# Files that begin with one of the words $argv, and folders.
function __hlguest_files
    set -l typed (commandline -ct | string unescape)
    # The value of an option behind its =.
    set typed (string replace -r -- '^--[a-z]+=' '' "$typed")
    for path in $typed*
        if test -d $path
            echo $path/
        else if test -f $path -a -r $path
            set -l head (head -c 7 -- $path | string collect)
            for magic in $argv
                string match -q -- "$magic*" "$head"; and echo $path
            end
        end
    end
end

function __hlguest_elf
    __hlguest_files \x7fELF
end
function __hlguest_input
    __hlguest_files \x7fELF PERFILE \x1f\x8b
end

function __hlguest_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __hlguest_first
    test (count (commandline -opc)) -eq 1
end

function __hlguest_some
    set -l typed (string replace -r -- '^--[a-z]*=' '' (commandline -ct))
    set -l done (string replace -r -- '[^,]*$' '' "$typed")
    printf "$done%s\n" $argv
end

complete -c hlguest -f
complete -c hlguest -n __hlguest_first -l help -d 'list the verbs'
complete -c hlguest -n __hlguest_first -l version -d 'say which version this is'
complete -c hlguest -n __hlguest_first -a report -d 'profile recordings'
complete -c hlguest -n __hlguest_first -a annotate -d 'instructions with samples'
complete -c hlguest -n __hlguest_first -a flame -d 'flame graph of recordings'
complete -c hlguest -n __hlguest_first -a record -d 'record guests with perf'
complete -c hlguest -n __hlguest_first -a windows -d 'counter windows, as rows, sums, a plot'
complete -c hlguest -n __hlguest_first -a merge -d 'sum saved profiles'
complete -c hlguest -n __hlguest_first -a base -d 'find where the guest\'s ELF lay'
complete -c hlguest -n __hlguest_first -a diff -d 'what changed between recordings'
complete -c hlguest -n __hlguest_first -a exits -d 'what leaving the guest costs'
complete -c hlguest -n __hlguest_first -a sysprof -d 'what LuaJIT\'s sysprof recorded'
complete -c hlguest -n __hlguest_first -a inject -d 'a recording that perf can show'
complete -c hlguest -n __hlguest_first -a calibrate -d 'how far to trust samples of this machine'
complete -c hlguest -n __hlguest_first -a kallsyms -d 'symbols for perf kvm --guestkallsyms'
complete -c hlguest -n __hlguest_first -a lookup -d 'what is at these addresses'
complete -c hlguest -n __hlguest_first -a doctor -d 'can this machine profile guests'
complete -c hlguest -n __hlguest_first -a help -d 'the verbs, or the options of one'
complete -c hlguest -n '__hlguest_verb help' -a 'report annotate flame record windows merge base diff exits sysprof inject calibrate kallsyms lookup doctor'

set -l every '__hlguest_verb report flame annotate record windows merge base diff exits sysprof inject calibrate kallsyms lookup doctor'
complete -c hlguest -n "$every" -s '?' -l help -d 'print all options'
complete -c hlguest -n "$every" -l usage -d 'print them in short'

set -l report '__hlguest_verb report'
complete -c hlguest -n "$report" -a '(__hlguest_input)'
complete -c hlguest -n "$report" -s i -l input -x -a '(__hlguest_files PERFILE \x1f\x8b)' -d 'a recording'
complete -c hlguest -n "$report" -s j -l jobs -x -d threads
complete -c hlguest -n "$report" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$report" -l aliases -a 'no yes' -d 'show all names of an address'
complete -c hlguest -n "$report" -l by -x -a '(__hlguest_some event pid tid cpu)' -d 'split the report'
complete -c hlguest -n "$report" -l calibration -r -F -d 'what hlguest calibrate saved'
complete -c hlguest -n "$report" -l cpu -x -d 'only these host CPUs'
complete -c hlguest -n "$report" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$report" -l event -x -d 'only events whose name matches'
complete -c hlguest -n "$report" -l force -a 'no yes' -d 'name functions although the samples do not fit'
complete -c hlguest -n "$report" -l format -x -a 'text csv json folded pprof callgrind speedscope' -d 'of the report'
complete -c hlguest -n "$report" -l gaps -x -a 'retag drop stretch' -d 'samples no symbol covers'
complete -c hlguest -n "$report" -l min -x -d 'leave rows below out'
complete -c hlguest -n "$report" -l mode -x -a 'guest host all' -d 'whose samples get rows'
complete -c hlguest -n "$report" -l out -r -F -d 'where the report goes'
complete -c hlguest -n "$report" -l pid -x -d 'only these processes'
complete -c hlguest -n "$report" -l region -x -d 'window of the region histogram'
complete -c hlguest -n "$report" -l roots -x -a '(__hlguest_some comm tid image section)' -d 'at the bottom of stacks'
complete -c hlguest -n "$report" -l skid -x -d 'show what may have come late by so many instructions'
complete -c hlguest -n "$report" -l stacks -x -a 'leaf counters callgraph' -d 'with the stacks that led there'
complete -c hlguest -n "$report" -l tid -x -d 'only these threads'
complete -c hlguest -n "$report" -l time -x -d 'only from START up to STOP'
complete -c hlguest -n "$report" -l top -x -d 'rows of each table'
complete -c hlguest -n "$report" -l weight -x -a 'period samples' -d 'what percentages are of'

set -l annotate '__hlguest_verb annotate'
complete -c hlguest -n "$annotate" -a '(__hlguest_input)'
complete -c hlguest -n "$annotate" -s i -l input -x -a '(__hlguest_files PERFILE \x1f\x8b)' -d 'a recording'
complete -c hlguest -n "$annotate" -s j -l jobs -x -d threads
complete -c hlguest -n "$annotate" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$annotate" -l by -x -a '(__hlguest_some event pid tid cpu)' -d 'listings for each'
complete -c hlguest -n "$annotate" -l cpu -x -d 'only these host CPUs'
complete -c hlguest -n "$annotate" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$annotate" -l event -x -d 'only events whose name matches'
complete -c hlguest -n "$annotate" -l force -a 'no yes' -d 'show them although the samples do not fit'
complete -c hlguest -n "$annotate" -l format -x -a 'text json' -d 'of the listings'
complete -c hlguest -n "$annotate" -l function -x -d 'what to show'
complete -c hlguest -n "$annotate" -l min -x -d 'leave functions below out'
complete -c hlguest -n "$annotate" -l out -r -F -d 'where the listings go'
complete -c hlguest -n "$annotate" -l pid -x -d 'only these processes'
complete -c hlguest -n "$annotate" -l skid -x -d 'mark what may have come late by so many instructions'
complete -c hlguest -n "$annotate" -l syntax -x -a 'att intel' -d 'of x86-64 instructions'
complete -c hlguest -n "$annotate" -l tid -x -d 'only these threads'
complete -c hlguest -n "$annotate" -l time -x -d 'only from START up to STOP'
complete -c hlguest -n "$annotate" -l top -x -d 'how many functions'
complete -c hlguest -n "$annotate" -l weight -x -a 'period samples' -d 'what shares are of'

set -l flame '__hlguest_verb flame'
complete -c hlguest -n "$flame" -a '(__hlguest_input)'
complete -c hlguest -n "$flame" -s i -l input -x -a '(__hlguest_files PERFILE \x1f\x8b)' -d 'a recording'
complete -c hlguest -n "$flame" -s j -l jobs -x -d threads
complete -c hlguest -n "$flame" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$flame" -l before -x -a '(__hlguest_input)' -d 'colour what changed since this recording'
complete -c hlguest -n "$flame" -l by -x -a '(__hlguest_some event pid tid cpu)' -d 'split the stacks'
complete -c hlguest -n "$flame" -l cpu -x -d 'only these host CPUs'
complete -c hlguest -n "$flame" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$flame" -l event -x -d 'only events whose name matches'
complete -c hlguest -n "$flame" -l force -a 'no yes' -d 'name functions although the samples do not fit'
complete -c hlguest -n "$flame" -l format -x -a 'svg folded speedscope' -d 'of the stacks'
complete -c hlguest -n "$flame" -l gaps -x -a 'retag drop stretch' -d 'samples no symbol covers'
complete -c hlguest -n "$flame" -l inverted -d 'callers above: icicles'
complete -c hlguest -n "$flame" -l min -x -d 'draw no frames below'
complete -c hlguest -n "$flame" -l mode -x -a 'guest host all' -d 'whose samples are drawn'
complete -c hlguest -n "$flame" -s o -l out -r -F -d 'where the picture goes'
complete -c hlguest -n "$flame" -l pid -x -d 'only these processes'
complete -c hlguest -n "$flame" -l roots -x -a '(__hlguest_some comm tid image section)' -d 'at the bottom of stacks'
complete -c hlguest -n "$flame" -l stacks -x -a 'leaf counters callgraph' -d 'with the stacks that led there'
complete -c hlguest -n "$flame" -l tid -x -d 'only these threads'
complete -c hlguest -n "$flame" -l time -x -d 'only from START up to STOP'
complete -c hlguest -n "$flame" -l title -x -d 'of the picture'
complete -c hlguest -n "$flame" -l weight -x -a 'period samples' -d 'what widths are'


set -l record '__hlguest_verb record'
complete -c hlguest -n "$record" -a '(__fish_complete_command)'
complete -c hlguest -n "$record" -s a -l all-cpus -d 'all VMMs, until ^C'
complete -c hlguest -n "$record" -s c -l count -x -d 'a window each N of the first event'
complete -c hlguest -n "$record" -s e -l event -x -a 'cycles:G cpu-clock' -d 'what to sample by'
complete -c hlguest -n "$record" -l stacks -d 'callchains, and those of KVM_RUN'
complete -c hlguest -n "$record" -l exits -d 'what hlguest exits needs'
complete -c hlguest -n "$record" -s F -l freq -x -d 'samples a second'
complete -c hlguest -n "$record" -s H -l host -d 'sample the host as well'
complete -c hlguest -n "$record" -s o -l output -r -F -d 'where to'
complete -c hlguest -n "$record" -s p -l pid -x -a '(__fish_complete_pids)' -d 'a VMM that runs already'

complete -c hlguest -n "$record" -s W -l windows -x -d 'counters, as one group'

set -l windows '__hlguest_verb windows'
complete -c hlguest -n "$windows" -a '(__hlguest_files \x7fELF PERFILE)'
complete -c hlguest -n "$windows" -s i -l input -x -a '(__hlguest_files PERFILE)' -d 'the recording'
complete -c hlguest -n "$windows" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$windows" -l between -x -d 'count between two markers'
complete -c hlguest -n "$windows" -l cpu -x -d 'only these host CPUs'
complete -c hlguest -n "$windows" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$windows" -l event -x -d 'the group whose leader matches'
complete -c hlguest -n "$windows" -l every -x -d 'add windows up in intervals'
complete -c hlguest -n "$windows" -l format -x -a 'csv text json svg' -d 'of the windows'
complete -c hlguest -n "$windows" -l function -x -d 'only windows that end in it'
complete -c hlguest -n "$windows" -l hpctool -d 'CSV with HPCTool\'s header'
complete -c hlguest -n "$windows" -l mode -x -a 'guest host all' -d 'whose windows get rows'
complete -c hlguest -n "$windows" -l out -r -F -d 'where the windows go'
complete -c hlguest -n "$windows" -l pid -x -d 'only these processes'
complete -c hlguest -n "$windows" -l rates -d 'IPC and miss percentages'
complete -c hlguest -n "$windows" -l summary -d 'CSV of functions'
complete -c hlguest -n "$windows" -l tid -x -d 'only these threads'
complete -c hlguest -n "$windows" -l time -x -d 'only from START up to STOP'

set -l merge '__hlguest_verb merge'
complete -c hlguest -n "$merge" -a '(__hlguest_files \x1f\x8b)'
complete -c hlguest -n "$merge" -s o -l output -r -F -d 'where the sum goes'
complete -c hlguest -n "$merge" -s q -l quiet -d 'no progress on the terminal'

set -l base '__hlguest_verb base'
complete -c hlguest -n "$base" -a '(__hlguest_input)'
complete -c hlguest -n "$base" -s i -l input -x -a '(__hlguest_files PERFILE \x1f\x8b)' -d 'a recording'
complete -c hlguest -n "$base" -s j -l jobs -x -d threads
complete -c hlguest -n "$base" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$base" -l cpu -x -d 'only these host CPUs'
complete -c hlguest -n "$base" -l event -x -d 'only events whose name matches'
complete -c hlguest -n "$base" -l pid -x -d 'only these processes'
complete -c hlguest -n "$base" -l tid -x -d 'only these threads'
complete -c hlguest -n "$base" -l time -x -d 'only from START up to STOP'

set -l diff '__hlguest_verb diff'
complete -c hlguest -n "$diff" -a '(__hlguest_input)'
complete -c hlguest -n "$diff" -s i -l input -x -a '(__hlguest_files PERFILE \x1f\x8b)' -d 'a recording'
complete -c hlguest -n "$diff" -s j -l jobs -x -d threads
complete -c hlguest -n "$diff" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$diff" -l after -d 'what follows is of the side after'
complete -c hlguest -n "$diff" -l cpu -x -d 'only these host CPUs'
complete -c hlguest -n "$diff" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$diff" -l event -x -d 'only events whose name matches'
complete -c hlguest -n "$diff" -l fail-if -x -d 'exit 3 if a share grew by more'
complete -c hlguest -n "$diff" -l force -a 'no yes' -d 'name functions although the samples do not fit'
complete -c hlguest -n "$diff" -l format -x -a 'text csv json' -d 'of the report'
complete -c hlguest -n "$diff" -l gaps -x -a 'retag drop stretch' -d 'samples no symbol covers'
complete -c hlguest -n "$diff" -l min -x -d 'leave rows below out'
complete -c hlguest -n "$diff" -l out -r -F -d 'where the report goes'
complete -c hlguest -n "$diff" -l pid -x -d 'only these processes'
complete -c hlguest -n "$diff" -l region -x -d 'window of the region histogram'
complete -c hlguest -n "$diff" -l tid -x -d 'only these threads'
complete -c hlguest -n "$diff" -l time -x -d 'only from START up to STOP'
complete -c hlguest -n "$diff" -l top -x -d 'rows of each table'
complete -c hlguest -n "$diff" -l weight -x -a 'period samples' -d 'what percentages are of'

set -l exits '__hlguest_verb exits'
complete -c hlguest -n "$exits" -a '(__hlguest_input)'
complete -c hlguest -n "$exits" -s i -l input -x -a '(__hlguest_files PERFILE \x1f\x8b)' -d 'a recording'
complete -c hlguest -n "$exits" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$exits" -l by -x -d 'split the tables: tid'
complete -c hlguest -n "$exits" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$exits" -l exact -d 'keep every latency'
complete -c hlguest -n "$exits" -l format -x -a 'text csv json' -d 'of the report'
complete -c hlguest -n "$exits" -l out -r -F -d 'where the report goes'
complete -c hlguest -n "$exits" -l pid -x -d 'only these processes'
complete -c hlguest -n "$exits" -l port -x -d 'exits of these I/O ports'
complete -c hlguest -n "$exits" -l reason -x -d 'exits of this reason'
complete -c hlguest -n "$exits" -l tid -x -d 'only these threads'
complete -c hlguest -n "$exits" -l time -x -d 'only from START up to STOP'
complete -c hlguest -n "$exits" -l top -x -d 'rows of each table'

set -l sysprof '__hlguest_verb sysprof'
complete -c hlguest -n "$sysprof" -a '(__hlguest_files ljs)'
complete -c hlguest -n "$sysprof" -l format -x -a 'text folded json' -d 'of the output'
complete -c hlguest -n "$sysprof" -l mode -x -a 'D L C' -d 'counters, leaves, or whole stacks'
complete -c hlguest -n "$sysprof" -l out -r -F -d 'where it goes'
complete -c hlguest -n "$sysprof" -l roots -x -d 'the first frame of each stack: state'
complete -c hlguest -n "$sysprof" -l top -x -d 'rows of stacks'

set -l inject '__hlguest_verb inject'
complete -c hlguest -n "$inject" -a '(__hlguest_input)'
complete -c hlguest -n "$inject" -s i -l input -x -a '(__hlguest_files PERFILE)' -d 'the recording'
complete -c hlguest -n "$inject" -l direct -d 'map guest.elf itself'
complete -c hlguest -n "$inject" -s o -l output -r -F -d 'where the new recording goes'
complete -c hlguest -n "$inject" -s q -l quiet -d 'no progress on the terminal'
complete -c hlguest -n "$inject" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$inject" -l force -a 'no yes' -d 'write although the samples do not fit'
complete -c hlguest -n "$inject" -l gaps -x -a 'retag drop stretch' -d 'samples no symbol covers'

set -l calibrate '__hlguest_verb calibrate'
complete -c hlguest -n "$calibrate" -l deadline -x -d 'seconds until guests are killed'
complete -c hlguest -n "$calibrate" -l format -x -a 'text json csv html' -d 'of the result'
complete -c hlguest -n "$calibrate" -l only -x -a 'crossing landing counting' -d 'these parts'
complete -c hlguest -n "$calibrate" -l operations -x -d 'string operations that are single-stepped'
complete -c hlguest -n "$calibrate" -l out -r -F -d 'where the result goes'
complete -c hlguest -n "$calibrate" -s q -l quiet -d 'no word about what is being measured'
complete -c hlguest -n "$calibrate" -l save -r -F -d 'keep the result for hlguest report'
complete -c hlguest -n "$calibrate" -l time -x -d 'milliseconds for each guest and event'
complete -c hlguest -n "$calibrate" -l runs -x -d 'how often each program is counted'

set -l kallsyms '__hlguest_verb kallsyms'
complete -c hlguest -n "$kallsyms" -a '(__hlguest_elf)'

set -l lookup '__hlguest_verb lookup'
complete -c hlguest -n "$lookup" -a '(__hlguest_elf)'
complete -c hlguest -n "$lookup" -l demangle -a 'no yes' -d 'C++ and Rust names readable'
complete -c hlguest -n "$lookup" -l format -x -a 'text json' -d 'of the answers'
complete -c hlguest -n "$lookup" -l inlines -d 'the functions that were inlined there, too'
complete -c hlguest -n "$lookup" -l own -d 'ADDR is the image\'s own address'

complete -c hlguest -n '__hlguest_verb doctor' -a '(__hlguest_elf)'
