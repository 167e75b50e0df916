; A study: the mug stands on a shelf and belongs on the desk.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem mug_on_desk)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 - location
    desk_bar_1 shelf_bar_2 shelf_bar_1 garbagecan_bar_1 - receptacle
    pencil_bar_1 book_bar_2 mug_bar_1 statue_bar_1 book_bar_1 - object
    DeskType FridgeType GarbageCanType MicrowaveType ShelfType SinkBasinType - rtype
    BookType ButterKnifeType KnifeType MugType PencilType StatueType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation desk_bar_1 loc_1) (receptacleType desk_bar_1 DeskType)
    (receptacleAtLocation shelf_bar_2 loc_2) (receptacleType shelf_bar_2 ShelfType)
    (receptacleAtLocation shelf_bar_1 loc_3) (receptacleType shelf_bar_1 ShelfType)
    (receptacleAtLocation garbagecan_bar_1 loc_4) (receptacleType garbagecan_bar_1 GarbageCanType)
    (inReceptacle pencil_bar_1 desk_bar_1) (objectAtLocation pencil_bar_1 loc_1) (objectType pencil_bar_1 PencilType) (pickupable pencil_bar_1)
    (inReceptacle book_bar_2 desk_bar_1) (objectAtLocation book_bar_2 loc_1) (objectType book_bar_2 BookType) (pickupable book_bar_2)
    (inReceptacle mug_bar_1 shelf_bar_2) (objectAtLocation mug_bar_1 loc_2) (objectType mug_bar_1 MugType) (pickupable mug_bar_1) (cleanable mug_bar_1) (heatable mug_bar_1) (coolable mug_bar_1)
    (inReceptacle statue_bar_1 shelf_bar_2) (objectAtLocation statue_bar_1 loc_2) (objectType statue_bar_1 StatueType) (pickupable statue_bar_1)
    (inReceptacle book_bar_1 shelf_bar_1) (objectAtLocation book_bar_1 loc_3) (objectType book_bar_1 BookType) (pickupable book_bar_1)
    (canContain DeskType BookType) (canContain DeskType MugType) (canContain DeskType PencilType) (canContain DeskType StatueType)
    (canContain GarbageCanType BookType) (canContain GarbageCanType MugType) (canContain GarbageCanType PencilType) (canContain GarbageCanType StatueType)
    (canContain ShelfType BookType) (canContain ShelfType MugType) (canContain ShelfType PencilType) (canContain ShelfType StatueType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o MugType) (receptacleType ?r DeskType) (inReceptacle ?o ?r))))
  (:metric minimize (total-cost))
)
